import { open, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../../../core/commands/terminal/arguments.ts';
import type { Output } from '../../../core/commands/terminal/output.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import { isObject, stringOf } from '../../../formats/json/object.ts';
import type { CaptureState } from '../file/captured.ts';

interface RecordOptions extends Output {
  /** Of the listener for operators. */
  readonly url: string;
  readonly token: string | undefined;
  /** Must not exist. */
  readonly file: string;
  readonly where: Readonly<Record<string, readonly string[]>>;
  readonly requests: number;
  readonly minutes: number;
  /** Aborted: the capture ends early, and what it has is written. */
  readonly stop: AbortSignal;
}

const POLL_MS = 1000;

class Refused extends Error {}

/** `gatehouse record`. Exit code 0: the file has at least one request; 1: it has none, or the gateway refused. */
export async function recordCommand(options: RecordOptions): Promise<0 | 1> {
  const { file, out, err } = options;
  // Before anything is captured that could not be written.
  const target = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw new UsageError(`--out ${file} cannot be created: ${messageOf(error)}`);
  });
  let isWritten = false;
  const write = async (text: string): Promise<void> => {
    await target.writeFile(text).catch((error: unknown) => {
      throw new Refused(`${file} cannot be written: ${messageOf(error)}`);
    });
    isWritten = true;
  };
  try {
    const captured = await capture(options, write);
    out(`${file} has ${captured} ${captured === 1 ? 'request' : 'requests'}\n`);
    return captured > 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    err(`gatehouse: ${error.message}\n`);
    return 1;
  } finally {
    await target.close();
    // Half of a capture is of no use, and would be in the way of the next one.
    if (!isWritten) await rm(file, { force: true });
  }
}

async function capture(options: RecordOptions, write: (text: string) => Promise<void>): Promise<number> {
  const { where, requests, minutes, err, stop } = options;
  // The gateway's own answer, as the others.
  const started = (await json(await ask(options, 'POST', '', { where, requests, minutes }))) as CaptureState;
  err(`Captures at most ${requests} requests until ${started.until}; Ctrl-C ends it early\n`);
  let state: CaptureState = started;
  try {
    while (state.state === 'running' && !stop.aborted) {
      await sleep(POLL_MS, undefined, { signal: stop }).catch(() => {});
      const next = await stateIn(options, started.id);
      if (next.captured !== state.captured) err(`${next.captured} of ${requests}\n`);
      state = next;
    }
    if (state.too_large > 0) err(`${state.too_large} requests are too large for a capture, and were left out\n`);
    await write(await (await ask(options, 'GET', `/${started.id}`)).text());
  } finally {
    // The gateway keeps nothing of what the file has.
    await ask(options, 'DELETE', `/${started.id}`);
  }
  return state.captured;
}

async function stateIn(options: RecordOptions, id: string): Promise<CaptureState> {
  const list = await json(await ask(options, 'GET', ''));
  const items: unknown = isObject(list) ? list['items'] : undefined;
  const own: unknown = Array.isArray(items) ? items.find((one) => isObject(one) && one['id'] === id) : undefined;
  if (own === undefined) throw new Refused('the capture is gone: the gateway was restarted, or somebody has ended it');
  return own as CaptureState;
}

async function ask({ url, token }: RecordOptions, method: string, path: string, body?: object): Promise<Response> {
  // oxlint-disable-next-line no-restricted-globals -- a command, which serves no requests
  const reply = await fetch(`${url}/admin/v1/captures${path}`, {
    method,
    // A token goes to the address of the command line only.
    redirect: 'manual',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Refused(`${url} does not answer: ${messageOf(error)}`);
  });
  if (reply.ok) return reply;
  const problem = await json(reply);
  const { code, detail } = isObject(problem) ? problem : {};
  throw new Refused(`${reply.status} ${stringOf(code) ?? ''}: ${stringOf(detail) ?? 'the gateway refused the call'}`);
}

const json = (reply: Response): Promise<unknown> => reply.json().catch(() => undefined);
