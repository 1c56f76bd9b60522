import { writeSync } from 'node:fs';
import type { ReportPluginFailure } from '../http/gateway/plugin-faults.ts';
import { pluginOf } from '../compose/plugin-owners.ts';
import { errorFields } from '../record/error-fields.ts';
import { scrub } from '../record/scrub.ts';

/** The parts of a gateway that unhandled errors need. */
export interface FaultHandler {
  readonly pluginFault: ReportPluginFailure;
  /** Stops accepting, waits for requests up to `drain.timeout`, and releases everything. Takes bounded time. */
  fail(): Promise<void>;
}

/** Limit of crash log lines: a throwing timer may throw until the process has ended. */
const MAX_LINES = 10;

let gateway: FaultHandler | undefined;
let lines = 0;
let ending = false;

/** Registers the gateway: from now on an unhandled error does not end the process at once. */
export function setFaultHandler(handler: FaultHandler): void {
  gateway = handler;
}

/**
 * Handles errors that no other code has handled. A rejection left by an external plugin is counted, logged and
 * survived: the promise belongs to that plugin alone. Any other error may have left the process in any state: the
 * process logs it with the plugin's name, accepts no more requests, lets running ones end, and exits with 1 to be
 * replaced.
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
  if (lines < MAX_LINES) writeError(crashLog(error, new Date(), plugin));
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

function writeError(line: string): void {
  try {
    writeSync(process.stderr.fd, line);
  } catch {
    // Standard error is closed or full. The process ends in any case.
  }
}

/**
 * The log line of an unhandled error. Node would print the error with all objects it refers to: requests, headers,
 * credentials. This line has only what identifies the fault.
 * @param plugin the external plugin that caused the error
 */
export function crashLog(error: unknown, at: Date, plugin?: string): string {
  const place = { level: 'fatal', time: at.toISOString(), pid: process.pid, plugin };
  const line = { ...place, err: errorFields(error), msg: 'unhandled error; the process ends' };
  return `${scrub(JSON.stringify(line))}\n`;
}
