import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { UsageError } from '../../../core/commands/terminal/arguments.ts';
import type { Output } from '../../../core/commands/terminal/output.ts';
import { printable } from '../../../core/kernel/layout.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import type { RecordedReply } from '../../../core/process/recordings-port.ts';
import { CallTable, exchangesIn } from '../file/recordings.ts';

interface ReplayOptions extends Pick<Output, 'err'> {
  readonly paths: readonly string[];
  readonly port: number;
  /** Without the waits of the recording. */
  readonly isFast: boolean;
}

/** A body that a call may have: that of the largest captured request. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface Replay {
  readonly url: string;
  readonly calls: number;
  close(): Promise<void>;
}

/** Serves the calls of upstreams in the files, at any host of this port. Throws UsageError for what is no file of a capture. */
export async function startReplay(options: ReplayOptions): Promise<Replay> {
  const table = await readTable(options.paths);
  const server = createServer((request, response) => void answer({ request, response, table, options }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new UsageError(`port ${options.port} cannot be opened: ${error.message}`)));
    server.listen(options.port, '127.0.0.1', resolve);
  });
  // A listening server has an address.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, calls: table.size, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  return closed;
}

async function readTable(paths: readonly string[]): Promise<CallTable> {
  try {
    const files = (await Promise.all(paths.map(filesAt))).flat();
    if (files.length === 0) throw new Error(`there is no *.jsonl in ${paths.join(', ')}`);
    const texts = await Promise.all(files.map(async (file) => exchangesIn(await readFile(file, 'utf8'), file)));
    return new CallTable(texts.flat());
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

async function filesAt(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.jsonl'));
  return names.sort().map((name) => join(path, name));
}

interface ReplayedCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly table: CallTable;
  readonly options: ReplayOptions;
}

async function answer({ request, response, table, options }: ReplayedCall): Promise<void> {
  try {
    const body = await bodyOf(request);
    const [method, path] = [request.method ?? '', request.url ?? ''];
    const found =
      body === undefined ? { miss: `the body exceeds ${MAX_BODY_BYTES} bytes` } : table.find({ method, path, body });
    if ('miss' in found) return refuse(response, `${method} ${path}: ${found.miss}`, options);
    if ('failed' in found) return await fail(response, found.failed, options);
    await play(response, found.reply, options);
  } catch {
    response.destroy();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size <= MAX_BODY_BYTES) pieces.push(piece);
  }
  return size > MAX_BODY_BYTES ? undefined : Buffer.concat(pieces).toString();
}

/** 404 is tried again by no gateway and by no SDK. The body has the form of OpenAI's errors, which others read too. */
function refuse(response: ServerResponse, message: string, { err }: ReplayOptions): void {
  err(`gatehouse: ${printable(message)}\n`);
  const error = { message, type: 'replay_miss', code: 'replay_miss', param: null };
  response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}

async function fail(response: ServerResponse, ms: number, { isFast }: ReplayOptions): Promise<void> {
  if (ms === Infinity) return;
  if (!isFast) await systemClock.sleep(ms);
  response.destroy();
}

async function play(response: ServerResponse, reply: RecordedReply, { isFast }: ReplayOptions): Promise<void> {
  const { status, headers, pieces, end } = reply;
  const from = systemClock.now();
  const waitUntil = async (ms: number): Promise<void> => {
    const left = isFast ? 0 : from + ms - systemClock.now();
    if (left > 0) await systemClock.sleep(left);
  };
  await waitUntil(pieces[0]?.[0] ?? 0);
  response.writeHead(status, headers);
  for (const [ms, bytes] of pieces) {
    await waitUntil(ms);
    if (response.destroyed) return;
    if (!response.write(bytes)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  }
  if (end === 'complete') response.end();
  else if (end === 'cut') response.destroy();
}
