/**
 * `npm run bench:calls`: the function calls of one plain chat of 1 KB through a real gateway, and its reads of request
 * headers. Counts depend on no clock; a busy machine adds a hundredth, since timers fall due within requests.
 */
import { readFileSync } from 'node:fs';
import { startMeasured } from '../allocation/measured-gateway.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';

/** Until the reply has been written, or after that: the record of the request. */
export type Phase = 'request' | 'record';

/** From the gateway: calls by phase, address of the module, offset and name of the function; each header that was read. */
export interface CountedCalls {
  readonly counts: readonly (readonly [key: string, count: number])[];
  readonly read: readonly string[];
  /** The number of loops over all headers. */
  readonly passes: number;
}

interface FunctionCalls {
  readonly phase: Phase;
  /** In the repository. */
  readonly file: string;
  readonly name: string;
  readonly offset: number;
  /** Per request. */
  readonly calls: number;
}

export interface CallFigures {
  readonly functions: readonly FunctionCalls[];
  /** Per request, by name. */
  readonly headers: ReadonlyMap<string, number>;
  /** Loops over all headers per request. Each may read several headers, which are not among those read by name. */
  readonly headerPasses: number;
}

const MODEL = '@gpt/gpt-4o-mini';
const REQUESTS = 50;
const root = `${new URL(`file://${packageFile('')}`).href}/`;

/** It also sees what other processes do in the folder that contains the settings. */
const WATCHER = 'src/core/settings/source/watch.ts';

/** Calls of this repository's functions for requests, without its tests and packages. */
function functionsOf({ counts }: CountedCalls): FunctionCalls[] {
  return counts.flatMap(([key, count]) => {
    const [phase, url, offset, name = ''] = key.split(' ');
    const file = url!.slice(root.length);
    if (!url!.startsWith(root) || !/^(?:src|plugins|schemas)\//.test(file) || file === WATCHER) return [];
    // Timers and reloads of files call a few functions less often than once for each request.
    const calls = Math.round(count / REQUESTS);
    return calls === 0 ? [] : [{ phase: phase as Phase, file, name, offset: Number(offset), calls }];
  });
}

export async function countCalls(): Promise<CallFigures> {
  const gateway = await startMeasured({}, 'test/bench/report-calls.ts');
  try {
    await gateway.sendAll(MODEL, 24);
    await gateway.ask('begin');
    for (let sent = 0; sent < REQUESTS; sent += 1) {
      await (await gateway.post(MODEL, {})).arrayBuffer();
      await gateway.ask('settle');
    }
    const counted = (await gateway.ask('end')) as CountedCalls;
    const headers = new Map<string, number>();
    for (const name of counted.read) headers.set(name, (headers.get(name) ?? 0) + 1 / REQUESTS);
    return { functions: functionsOf(counted), headers, headerPasses: counted.passes / REQUESTS };
  } finally {
    await gateway.close();
  }
}

/** Stripping types keeps the places of all characters. */
const lineOf = (file: string, offset: number): number =>
  readFileSync(packageFile(file), 'utf8').slice(0, offset).split('\n').length;

const sum = (of: readonly FunctionCalls[]): number => of.reduce((all, { calls }) => all + calls, 0);

export function totalsOf({ functions, headers, headerPasses }: CallFigures) {
  return {
    calls: sum(functions),
    files: new Set(functions.map(({ file }) => file)).size,
    callsOfRecord: sum(functions.filter(({ phase }) => phase === 'record')),
    headerReads: Math.round([...headers.values()].reduce((all, count) => all + count, 0)),
    headerPasses,
  };
}

if (process.argv[1] === import.meta.filename) {
  const figures = await countCalls();
  const most = figures.functions.toSorted((one, other) => other.calls - one.calls);
  for (const { phase, file, name, offset, calls } of most.slice(0, Number(process.argv[2] ?? 60)))
    console.log(`${String(calls).padStart(4)} ${phase} ${file}:${lineOf(file, offset)} ${name}`);
  console.log(Object.fromEntries(figures.headers));
  console.log(totalsOf(figures));
}
