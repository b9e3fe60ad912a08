        .text
        .globl  bump
bump:   movl    (%rdi), %eax
        incl    %eax
        movl    %eax, (%rdi)
        ret
        .section .note.GNU-stack,"",@progbits
