#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/$RACEHUNTER_PORT 4<>/dev/tcp/127.0.0.1/$RACEHUNTER_PORT
echo count >&3
echo count >&4
read -r first <&3
read -r second <&4
test "$first" != "$second"
