// Takes the place of the weak function of the program.
extern int number;
int change(void)
{
    return ++number;
}
