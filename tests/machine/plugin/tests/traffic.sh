#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# traffic.sh T410CTL SCENARIOS FILE: the traffic tool, on a file of its own.
set -u
ctl=$1 scenarios=$2 shm=$3
checks=0 failed=0

fail() {
	failed=$((failed + 1))
	echo "traffic: $*" >&2
}

# accepts COMMAND...
accepts() {
	checks=$((checks + 1))
	"$ctl" "$shm" "$@" > /dev/null || fail "refused: $*"
}

# refuses COMMAND...: with status 2, and without leaving a trace
refuses() {
	checks=$((checks + 1))
	before=$("$ctl" "$shm" list | wc -l)
	"$ctl" "$shm" "$@" > /dev/null 2>&1
	[ $? -eq 2 ] || fail "not refused: $*"
	[ "$("$ctl" "$shm" list | wc -l)" = "$before" ] || fail "left a flow behind: $*"
}

# shows NAME PATTERN: the line of flow NAME in the list
shows() {
	checks=$((checks + 1))
	"$ctl" "$shm" list | grep "^$1 " | grep -q -- "$2" || fail "$1 lacks $2"
}

for file in "$scenarios"/*.conf; do
	rm -f "$shm"
	accepts load "$file"
done

rm -f "$shm"
accepts slot 3 reads pcie socket=1 rc=4 rp=2 bdf=c1:00.3 dst=rem dir=rd req=64 latency=7 ucf=1 cmem=1
shows reads 'pcie socket=1 rc=4 port=2 bdf=0xc103 src=0 dst=4 .* req=64 latency=7 slot=3 0x0:.* 0x2:.* 0x4:'
shows reads.ucf 'ucf socket=1 .* src=0 dst=11 .* slot=3 0x123:'
checks=$((checks + 1))
"$ctl" "$shm" list | grep -q 'reads\.cmem' && fail "a remote read reached local DRAM"
accepts flow even ucf socket=0 src=cpu dir=rd rate=3200 latency=5 cmem=1
shows even '0x123:3200/s=.* 0x121:100/s='
shows even.cmem '0x1:100/s=.* 0x2:500/s='
accepts flow remote scf socket=0 dst=s1 dir=rd rate=6400 latency=2
shows remote '0x102:200/s.* 0x116:400/s.* 0x12e:200/s.* 0x1a2:200/s.* 0x1a3:400/s.* 0x1a4:200/s'
accepts flow port cnvlink socket=0 port=3 dst=rem dir=wr rate=64
shows port 'port=3 .* 0x3:64/s.* 0x5:64/s.* 0x9:2/s.* 0xb:2/s'
accepts slot 4 hits ucf socket=0 src=cpu req=96 slc_hit_rd:requests slc_wb:lines
shows hits 'req=96 .* slot=4 0x119:.* 0xf3:'
accepts flow served pcie socket=0 rc=1 rp=2 dst=cmem dir=rd rate=6400 latency=2 slc_hit=75 ucf=1 cmem=1
shows served '0x0:6400/s='
shows served.ucf '0x123:1600/s=.* 0x121:50/s=.* 0x113:6400/s=.* 0x111:200/s='
shows served.cmem '0x1:50/s=.* 0x2:100/s='
refuses flow served pcie socket=0 rc=1 rp=2 dst=cmem dir=rd rate=1 slc_hit=101
accepts rate even mem_bytes_rd 5M
shows even '0x123:5000000/s='
accepts stop even
shows even 'slot=-1 0x123:0/s='
accepts clock scf 3G
accepts disk disk0 pcie socket=0 rc=2 rp=1 bdf=00:08.0 latency=7 ucf=1 cmem=1
shows disk0.rd 'pcie socket=0 rc=2 port=1 bdf=0x0040 .* slot=65 0x0:.* 0x2:.* 0x4:'
shows disk0.wr 'slot=64 0x1:.* 0x3:'
shows disk0.rd.ucf 'slot=65 0x123:'
shows disk0.wr.ucf 'slot=64 0x124:'
shows disk0.rd.cmem 'slot=65 0x1:'
checks=$((checks + 1))
"$ctl" "$shm" stat | grep -qx 'disk disk0 read_bytes 0 reads 0 written_bytes 0 writes 0' || fail "no totals of a disk"

refuses flow x nosuchkind dir=rd
refuses flow x ucf src=moon dir=rd
refuses flow x ucf dir=sideways rate=1
refuses flow x ucf dir=rd rate=1 colour=3
refuses flow x ucf mem_bytes_rd:12q
refuses flow x ucf mem_bytes_rd:99999999999G
refuses flow x pcie bdf=a1:20.0 dir=rd rate=1
refuses flow x pcie rc=6 dir=rd rate=1
refuses flow x ucf rate=1
refuses flow x ucf dir=rd req=0
refuses flow a-name-that-is-longer-than-there-is-room ucf dir=rd
refuses slot 64 x ucf dir=rd
refuses slot 1 x ucf dir=rd rate=5
refuses slot 1 x ucf mem_bytes_rd:5
refuses slot 1 x ucf mem_bytes_rd:
refuses slot 1 x ucf src=cpu
refuses flow x ucf mem_bytes_rd:bytes
refuses rate nobody mem_bytes_rd 5
refuses stop nobody
refuses clock ucf fast
refuses load /nonexistent
refuses disk disk0 pcie socket=1 rc=2
refuses disk other pcie dir=rd
refuses disk other pcie rate=5
refuses disk other pcie rd_bytes:bytes
refuses disk other pcie rc=6
refuses disk other cmem latency=5
refuses disk other
refuses fly

echo "traffic tool: $checks checks, $failed failed"
[ "$failed" -eq 0 ]
