# SPDX-License-Identifier: GPL-2.0-only
"""AmpereOne: nothing but memory controllers, which are CoreSight units."""
from layout import DRAM, MCU_STRIDE, MCUS_PER_SOCKET, socket_base

NODE_MEMORY = 0


def coresight_units(sockets):
    """As units.coresight_units() has them. The driver numbers them itself."""
    for s in range(sockets):
        for n in range(MCUS_PER_SOCKET):
            yield NODE_MEMORY, "", 0, socket_base(s) + DRAM + n * MCU_STRIDE, s
