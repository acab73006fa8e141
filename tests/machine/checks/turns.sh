#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest, with --steady: two programs that never pause, on CPUs next to each other. Lines "N N":
# how far both are, a quarter of a second apart.
TMP=/tmp/turns
STEPS=8
mkdir $TMP
for cpu in 0 1; do
	# shellcheck disable=SC2016  # for the shell that works
	taskset -c $cpu sh -c 'n=0
		while [ ! -e '$TMP'/enough ]; do
			n=$((n + 1))
			[ $((n % 100)) != 0 ] || echo $n > '$TMP'/$0
		done' $cpu &
done
while [ ! -s $TMP/0 ] || [ ! -s $TMP/1 ]; do usleep 10000; done
# A file is empty for a moment while it is written
look() { until read -r value < $TMP/"$1" && [ -n "$value" ]; do :; done; }
step=0
while [ $step -lt $STEPS ]; do
	look 0
	first=$value
	look 1
	echo "$first $value"
	usleep 250000
	step=$((step + 1))
done
touch $TMP/enough
wait
