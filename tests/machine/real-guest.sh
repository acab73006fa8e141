#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Guest side of the real programs: real-guest.sh MILLIONS RUN...
#
# RUN is one program or several with "+" between. t410trace records, the programs run in a cgroup
# each on the CPUs of socket 1 and are killed when these have made so many millions of loads and
# stores, twice as many with several. Recordings, what the cache model saw by process, and what the
# programs said are left in /host/out; judge_real.py judges.
set -u

OUT=/host/out
WORK=/tmp/real
CGROUPS=/sys/fs/cgroup
T410TRACE=/tmp/t410trace
# What Debian chooses when packages are installed
export LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu/blas:/usr/lib/aarch64-linux-gnu/lapack
SOCKET0=3
SOCKET1=c
LIMIT=240		# quarters of a second, of a run that does little
SAVE_TRUTH=0x0e800018	# PORT_CACHE_SAVE of the traffic port

until_true() {
	tries=1200
	while ! "$@" && [ $tries -gt 0 ]; do
		usleep 100000
		tries=$((tries - 1))
	done
}

# --- the programs: each goes on until it is killed, and a run fails if one ends by itself. With
# paths: the shell has programs of these names inside, and these are to be Debian's.

# again COMMAND...: what ends by itself is started again, until it fails
again() { while "$@"; do :; done; }

# shellcheck disable=SC2317  # called by name
{
sysbench_memory() { again /usr/bin/sysbench memory --memory-block-size=1M --time=100 run; }
stress_stream() { /usr/bin/stress-ng --stream 1 --stream-l3-size 1M --timeout 100; }
stress_cache() { /usr/bin/stress-ng --cache 1 --timeout 100; }
sqlite() {
	again /usr/bin/sqlite3 :memory: "create table t(a, b);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
		insert into t select i, hex(randomblob(16)) from n;
		create index b on t(b); select count(*), sum(a) from t where b > '8';"
}
gzip_text() { again /usr/bin/gzip -c $WORK/text > /dev/null; }
zstd_text() { again /usr/bin/zstd -q -3 -c $WORK/text > /dev/null; }
sort_text() { again /usr/bin/sort --parallel=1 -S 16M $WORK/text > /dev/null; }
numpy() {
	/usr/bin/python3 -c 'import numpy
a = numpy.ones((256, 256)); b = numpy.arange(1 << 18, dtype=float)
while True: a = a @ a / 256; b = numpy.sqrt(b * b + 1)'
}
fio_tmpfs() {
	/usr/bin/fio --name=x --filename=$WORK/fio --size=8m --ioengine=psync --rw=randrw --bs=16k \
		--time_based --runtime=100
}
answers() { /usr/bin/redis-cli -p 7000 ping > /dev/null; }
redis() {
	/usr/bin/redis-server --save '' --port 7000 --daemonize no &
	until_true answers
	: > $WORK/serving
	again /usr/bin/redis-benchmark -p 7000 -q -n 2000 -c 4 -d 4096 -r 1000 -t set,get
}
openssl_sha() { again /usr/bin/openssl speed -seconds 5 -bytes 1048576 -evp sha256; }
video() {
	again /usr/bin/ffmpeg -loglevel error -f lavfi -i testsrc=size=320x180:rate=25 -frames:v 2500 \
		-c:v mpeg4 -threads 1 -f null -
}
}

# --- runs

# truth NAME: what the model has seen of each process so far
truth() {
	devmem $SAVE_TRUTH 64 1
	cp /run/machine/truth "$OUT/$1"
}

# accesses: millions of loads and stores of socket 1 so far
accesses() {
	devmem $SAVE_TRUTH 64 1
	sed -nE 's/^\{"cpu":[23],"loads":([0-9]+),"stores":([0-9]+),.*/\1 \2/p' /run/machine/truth |
		awk '{ sum += $1 + $2 } END { printf "%d\n", sum / 1e6 }'
}

# work MILLIONS: waits until so much more was done, or for LIMIT
work() {
	goal=$(($(accesses) + $1))
	tries=0
	while usleep 250000 && [ "$(accesses)" -lt $goal ] && [ $tries -lt $LIMIT ]; do
		tries=$((tries + 1))
	done
}

# start RUN PROGRAM: in its cgroup, which is known before the first access of the program
start() {
	group=$CGROUPS/$1-$2
	rmdir "$group" 2> /dev/null
	mkdir "$group"
	echo "$2 $(stat -c %i "$group")" >> "$OUT/$1.cgroups"
	# the shell that becomes the program moves itself: nothing of ours is left in the cgroup
	# shellcheck disable=SC2016  # expanded by that shell
	sh -c 'echo $$ > "$0/cgroup.procs"; exec "$@"' \
		"$group" taskset $SOCKET1 sh "$0" program "$2" > "$OUT/$1.$2.said" 2>&1 &
}

run() {
	"$T410TRACE" record -a -v --format ndjson --weights l3d_cache_refill,l2d_cache_wb \
		-o $WORK/run.ndjson 2> "$OUT/$1.err" &
	recorder=$!
	until_true test -s $WORK/run.ndjson
	usleep 500000
	truth "$1.before"
	for program in $(echo "$1" | tr + ' '); do
		start "$1" "$program"
	done
	# its server needs a second and 300 million loads and stores until it answers
	case $1 in
	*redis*) until_true test -e $WORK/serving ;;
	esac
	case $1 in
	*+*) work $((2 * MILLIONS)) ;;
	*) work "$MILLIONS" ;;
	esac
	[ ! -e $WORK/ended ] || mv $WORK/ended "$OUT/$1.ended"
	for group in "$CGROUPS/$1"-*; do
		echo 1 > "$group/cgroup.kill"
	done
	usleep 300000
	truth "$1.after"
	kill -TERM $recorder
	wait $recorder
	echo $? > "$OUT/$1.status"
	cp $WORK/run.ndjson "$OUT/$1.ndjson"
	rm -f $WORK/run.ndjson $WORK/fio $WORK/ended $WORK/serving
}

if [ "$1" = program ]; then
	"$2"
	echo "$2" >> $WORK/ended
	exit
fi
MILLIONS=$1
shift
mkdir -p $WORK $OUT
rm -f $OUT/*
cp /host/t410trace $T410TRACE
# text without order, the same each time
awk 'BEGIN {
	srand(7)
	for (i = 0; i < 60000; i++)
		printf "%d line %d of %d\n", rand() * 1e6, i, rand() * 1e9
}' > $WORK/text
ifconfig lo up || exit 1	# redis and its benchmark talk by it
insmod /modules/t410_cache.ko || exit 1
taskset -p $SOCKET0 $$ > /dev/null
printf '%s\n' "$@" > $OUT/runs
for run; do
	echo "$run at $(cut -d ' ' -f 1 /proc/uptime)"
	run "$run"
done
echo "done at $(cut -d ' ' -f 1 /proc/uptime)"
