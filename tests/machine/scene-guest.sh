#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Guest side of scene.sh: two jobs of Slurm, a container, a disk and two devices, recorded for some
# seconds. Leaves the recording in /host/out, and the output of commands that need the machine.
set -eu
SLURM=system.slice/slurmstepd.scope
DOCKER=system.slice/docker-4f$(printf '%062d' 7).scope
BACKUP=/sys/fs/cgroup/system.slice/backup.service

# load CGROUP NAME ARG...: a program for longer than all commands below
load() {
	load_cgroup=$1 load_name=$2
	shift 2
	ln -sf "$(command -v traffic)" "$load_name"
	"./$load_name" --cgroup "$load_cgroup" --name "$load_name" --seconds 100 "$@" > /dev/null &
}

# said COMMAND...: with status 3 the report says what it lacks
said() { "$@" || [ $? = 3 ]; }

cp /host/t410trace /tmp
cd /tmp
load $SLURM/job_12/step_0/user/task_0 solver --slot 0 --rate 4000000 --cpu 0
load $SLURM/job_12/step_0/user/task_1 solver --slot 3 --rate 1500000 --cpu 3
load $SLURM/job_13/step_0/user/task_0 train --slot 1 --rate 9000000 --cpu 1 --duty 60/240
load $SLURM/job_13/step_0/user/task_1 train --slot 2 --rate 6000000 --cpu 2 --duty 100/200
load "$DOCKER" web --slot 2 --rate 800000 --cpu 2 --duty 20/90
load system.slice/ingest.service ingest --slot 9 --rate 20000000 --cpu 1 --duty 1/39
load system.slice/ingest.service ingest --slot 12 --rate 30000000 --cpu 3 --duty 1/39
mkdir -p $BACKUP
(
	echo 0 > $BACKUP/cgroup.procs
	ln -s "$(command -v diskload)" backup
	exec ./backup --name backup --file /dev/vda --read --size 262144 --burst 16 --pause 5-40 --cpu 2 --seconds 100
) > /dev/null &
usleep 800000
mkdir -p /host/out
echo '0000:00:08.0 socket=0 rc=2 rp=1' > pci-map
said ./t410trace record -a -D vda -D 0002:a1:00.0 -D 000d:41:00.0 --pci-map pci-map -d 6 -o scene.rec
said ./t410trace stat -d 2 > /host/out/stat.txt
said ./t410trace topology --pci-map pci-map > /host/out/topology.txt
said ./t410trace check > /host/out/check.txt
cp scene.rec /host/out
# shellcheck disable=SC2046  # a list
kill $(pidof solver train web ingest backup)
