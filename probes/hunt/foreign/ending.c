int counter;
__attribute__((destructor)) static void at_end(void)
{
    counter++;
}
