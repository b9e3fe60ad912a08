// The configuration of GNU's C++ library, with its templates left to the program.
//
// The library promises that `std::string`, the streams and some others are compiled already, in its shared object. Code from
// there is not instrumented. Without the promise they are compiled with the program, like all other templates.
#pragma GCC system_header
#include_next <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
