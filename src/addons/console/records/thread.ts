import { parentPort, workerData } from 'node:worker_threads';
import type { RecordQuery } from '../../../core/record/record-query.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import { RecordFolder, type KeptLimits, type KeptRow } from './record-file.ts';

// The thread of the records on disk: SQLite is synchronous, and the thread that serves requests must not wait for it.

export type RecordCall =
  | { readonly id: number; readonly name: 'add'; readonly rows: readonly KeptRow[]; readonly now: number }
  | { readonly id: number; readonly name: 'find'; readonly request: string }
  | { readonly id: number; readonly name: 'page'; readonly query: RecordQuery }
  | { readonly id: number; readonly name: 'close' };

export interface RecordAnswer {
  readonly id: number;
  readonly value?: unknown;
  readonly failed?: { readonly message: string; readonly full: boolean };
}

function valueOf(folder: RecordFolder, call: RecordCall): unknown {
  if (call.name === 'add') return folder.add(call.rows, call.now);
  if (call.name === 'find') return folder.find(call.request);
  return call.name === 'page' ? folder.page(call.query) : folder.close();
}

function start(port: NonNullable<typeof parentPort>): void {
  let folder: RecordFolder | undefined;
  port.on('message', (call: RecordCall) => {
    let answer: RecordAnswer;
    try {
      // A folder that cannot be made now may be made later.
      folder ??= new RecordFolder(workerData as KeptLimits);
      answer = { id: call.id, value: valueOf(folder, call) };
    } catch (error) {
      const message = messageOf(error);
      answer = { id: call.id, failed: { message, full: /full|ENOSPC|quota/i.test(message) } };
    }
    port.postMessage(answer);
    if (call.name === 'close') port.close();
  });
}

if (parentPort) start(parentPort);
