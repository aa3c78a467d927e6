# SPDX-License-Identifier: GPL-2.0-only
"""Files of runs that never happened, for tests of tools/report."""

import json
import math

# As a file name, an option, a state: no slash, which a file name cannot have.
HOSTILE = "a\"'&<b>x<img src=q onerror=window.broken=1><!--<script>window.broken=1"

ROUNDS = ("round,time_s,train_loss,test_accuracy,selected,received,bit_budget,granted_bits,delivered_bits,"
          "lost_fraction,mean_snr_db,mean_sigma,same_cell_epsilon,skipped,true_epsilon,"
          "clamped_fraction,mean_burst,repair_s,awake_fraction\n")
LINKS = ("round,device,group,bits,snr_db,sigma,sent_fragments,received_fragments,weight,distance_m,uplink_s,"
         "state,phy_rate_bps,frames_ok,frames_failed,energy_j\n")


def describe(text="plain", tables=("rounds", "devices", "links"), **changes):
    """The content of PREFIX-run.json."""
    run = {"schema": 1, "version": "0.1.0", "program": "federated-wifi",
           "command": ["federated-wifi", f"--note={text}"], "options": {"note": text, "radius": "40"},
           "settings": {"RngRun": "3"}, "rng_seed": 1, "rng_run": 3,
           "facts": {"d": 7850, "encoded": 7850, "devices": 6, "groups": [{"devices": 3, "bits": 2},
                                                                         {"devices": 3, "bits": 4}],
                     "profile": "sound", "algorithm": text},
           "attributes": {"FusionCenter": {"Deadline": "+4s"}}, "tables": list(tables),
           "result": {"version": "0.1.0", "rounds": 3, "test_accuracy": 0.8, "mean_snr_db": None},
           "privacy": [f"privacy: no claim: {text}", "privacy: most answers of a device: 3"]}
    run.update(changes)
    return json.dumps(run)


def write_rounds(prefix, rounds, awake=""):
    rows = [f"{i},{4.5 * i},{2 / i},{'' if i == 2 else 0.9 - 0.5 / i},4,3,30,12,{9 + i},"
            f"{0.3 / i},{20 + math.sin(i)},,{0.1 * i},0,,{0.01 * i},{'' if i == 2 else 1 + i},{0.25 * i},{awake}\n"
            for i in range(1, rounds + 1)]
    prefix.with_name(f"{prefix.name}-rounds.csv").write_text(ROUNDS + "".join(rows))


def write_cell(prefix, rounds=3, devices=6, text="plain"):
    """A cell with places and links, whose radios sleep."""
    write_rounds(prefix, rounds, awake=0.375)
    prefix.with_name(f"{prefix.name}-run.json").write_text(describe(text))
    places = [f"{i},{i % 2},{2 + 2 * (i % 2)},600,{10 * math.cos(i) * (1 + i)},{10 * math.sin(i) * (1 + i)},0\n"
              for i in range(devices)]
    prefix.with_name(f"{prefix.name}-devices.csv").write_text(
        "device,group,bits,samples,x_m,y_m,z_m\ncenter,,,,0,0,0\n" + "".join(places))
    rows = []
    for number in range(1, rounds + 1):
        for i in range(number % 2, devices, 2):
            state = "unreachable" if i == 4 else "partial" if i % 3 else "complete"
            quoted = '"' + text.replace('"', '""') + '"'
            snr, sent, weight = ("", "", "") if i == 4 else (30 - 3 * i + number, 10, 0.1 * (1 + i))
            rows.append(f"{number},{i},{i % 2},{2 + 2 * (i % 2)},{snr},,{sent},{0 if i == 4 else 10 - i},{weight},"
                        f"{10 * (1 + i)},0.5,{quoted if text != 'plain' else state},,,,{0.25 * number}\n")
    prefix.with_name(f"{prefix.name}-links.csv").write_text(LINKS + "".join(rows))


def write_ideal(prefix):
    """Ideal links: no places and no table of links."""
    write_rounds(prefix, 3)
    prefix.with_name(f"{prefix.name}-run.json").write_text(describe(tables=("rounds", "devices")))
    prefix.with_name(f"{prefix.name}-devices.csv").write_text(
        "device,group,bits,samples,x_m,y_m,z_m\ncenter,,,,,,\n0,0,2,600,,,\n1,1,4,600,,,\n")
