import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** A Node that is too old for the gateway, where this machine has one. */
export const OLD_NODE = ['/usr/bin/node', '/usr/local/bin/node'].find(
  (path) => existsSync(path) && Number(execFileSync(path, ['-p', 'process.versions.node.split(".")[0]'])) < 24,
);

/** The one line that it gets. */
export const NEEDS_NODE =
  /^gatehouse needs Node 24 or newer; this is v(\d+)\.\S+ \(\S+\)\. Install Node 24 \(https:\S+\) and run .+\n$/;
