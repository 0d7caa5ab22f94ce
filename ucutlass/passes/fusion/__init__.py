"""How `fuse` decides: groups of operations that one kernel holds (`groups`) and what may join them (`legality`)."""
