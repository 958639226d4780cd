/* routes - the method and the pattern of each HTTP route, one in a line. */
#include <stdio.h>

#include "tuner/http/route.h"

int main(void)
{
    for (size_t i = 0; i < route_count; i++)
        printf("%s %s\n", route_table[i].method, route_table[i].pattern);
    return 0;
}
