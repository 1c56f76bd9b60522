import { writeSync } from 'node:fs';
import { crashLog } from './crash-log.ts';
import type { ReportPluginFailure } from '../gateway/plugin-faults.ts';
import { pluginOf } from '../compose/plugin-owners.ts';

/** What of a gateway an error concerns that nothing has handled. */
export interface FaultyGateway {
  readonly pluginFault: ReportPluginFailure;
  /** Stops accepting, lets requests end for `drain.timeout`, and lets go of everything. Takes bounded time. */
  fail(): Promise<void>;
}

/** A timer that throws may do so until the process has ended. */
const MAX_LINES = 10;

let gateway: FaultyGateway | undefined;
let lines = 0;
let ending = false;

/** This process serves: it does not end at once any more. */
export function setServingGateway(serving: FaultyGateway): void {
  gateway = serving;
}

/**
 * What becomes of errors that nothing has handled. A rejection that a plugin from outside has left is counted, logged and survived: the
 * promise belongs to that plugin alone. Anything else may have left the process in any state: it says which plugin it was, takes no
 * more requests, lets those that run end, and ends with 1, so that another one takes its place.
 */
export function handleUnhandledErrors(): void {
  process.on('unhandledRejection', (reason: unknown) => {
    const plugin = gateway && pluginOf(reason);
    if (plugin === undefined) return end(reason, pluginOf(reason));
    gateway?.pluginFault({ kind: 'rejection', plugin, error: reason });
  });
  process.on('uncaughtException', (error: unknown) => end(error, pluginOf(error)));
}

function end(error: unknown, plugin: string | undefined): void {
  if (lines < MAX_LINES) say(crashLog(error, { at: new Date(), plugin }));
  lines += 1;
  if (ending) return;
  ending = true;
  void stop();
}

async function stop(): Promise<void> {
  try {
    await gateway?.fail();
  } finally {
    process.exit(1);
  }
}

function say(line: string): void {
  try {
    writeSync(process.stderr.fd, line);
  } catch {
    // Standard error is closed or full: the process ends all the same.
  }
}
