import type { ConfigTestCase } from '../../schemas/types.generated.ts';
import type { Clock, KeyRing } from '../plugin/index.ts';
import type { Diagnostic } from '../settings/diagnostic.ts';
import type { SettingsFiles } from '../settings/files.ts';
import { digestOf } from '../settings/key-digest.ts';
import { createKeyRing } from '../settings/key-ring.ts';
import { loadSettings, type LoadResult, type Settings } from '../settings/load.ts';
import { ANYBODY, UnknownKey } from '../server/explain/supposed-caller.ts';
import type { HeaderNames } from '../server/headers.ts';
import { Calls } from './calls.ts';
import { startCaseGateway, type CaseGateway } from './case-gateway.ts';
import { passTime, startTime, type CaseTime } from './case-time.ts';
import { ask, type ClientReply, type ClientRequest } from './client.ts';
import { Traffic } from './memory-socket.ts';
import type { Outcome } from './outcome.ts';
import { countedBetween, countersOf, tellOutcome } from './tell-outcome.ts';
import { SettingsRefused } from '../settings/refused.ts';

/** The settings of some cases. Read once for each setup: when they have changed, make another. */
export interface RunnerSetup {
  /** Folder of the settings. */
  readonly configs: string;
  readonly files: SettingsFiles;
  /** Values of `${env:NAME}`; all others have stand-ins. */
  readonly env: Readonly<Record<string, string>>;
}

/** A case with what its file leaves out filled in. */
export interface FullCase extends ConfigTestCase {
  /** Undefined: the request names none. */
  readonly configId: string | undefined;
}

/** When cases happen that do not say when. */
const SOME_MOMENT = '2026-01-01T00:00:00Z';

/** Runs cases against one folder of settings, each in a gateway of its own. Throws SettingsRefused, and UnknownKey. */
export async function runCase(setup: RunnerSetup, testCase: FullCase): Promise<Outcome> {
  const { loaded, settings } = await settingsOf(setup);
  const wall = Date.parse(testCase.at ?? SOME_MOMENT);
  let foreign = false;
  const time = startTime(new Traffic(), wall, () => foreign);
  const calls = new Calls(testCase.upstream ?? []);
  const keys = supposedKeys(testCase, settings, time.clock);
  const gateway = await startCaseGateway({
    loaded,
    configs: setup.configs,
    env: setup.env,
    time,
    calls,
    draw: drawFrom(testCase.draws ?? []),
    requestId: requestIdOf(testCase),
    keys,
    onForeignPlugin: () => void (foreign = true),
  });
  if (!gateway) throw broken(setup, loaded.diagnostics);
  const before = countersOf(await gateway.metrics.snapshot('cumulative'));
  const { reply, fault } = await exchange(gateway, time, requestOf(testCase, gateway.snapshot.headerNames));
  const counted = countedBetween(before, countersOf(await gateway.metrics.snapshot('cumulative')));
  const faults = [...(fault === undefined ? [] : [fault]), ...(await close(gateway, time))];
  return tellOutcome({ settings, calls, reply, served: gateway.served.at(-1), wall, counted, faults });
}

interface Exchanged {
  readonly reply: ClientReply;
  /** Why it came to no end. */
  readonly fault: string | undefined;
}

async function exchange(gateway: CaseGateway, time: CaseTime, request: ClientRequest): Promise<Exchanged> {
  const reply = ask(gateway.server, time.traffic, request);
  const fault = await passTime(time, () => reply.over && gateway.served.every(({ end }) => end !== undefined));
  return { reply, fault: fault && `the request has no end: ${fault}` };
}

/** What plugins close may wait on the case's clock, too. */
async function close(gateway: CaseGateway, time: CaseTime): Promise<readonly string[]> {
  let closed = false;
  const closing = gateway.close().then(() => (closed = true));
  const fault = await passTime(time, () => closed);
  if (fault !== undefined) return [`the gateway does not close: ${fault}`];
  await closing;
  return [];
}

interface Loaded {
  readonly loaded: LoadResult;
  readonly settings: Settings;
}

const known = new WeakMap<RunnerSetup, Promise<Loaded>>();

/** Parsing and checking take longer than a case: what is read is never changed, so all cases of a setup share it. */
function settingsOf(setup: RunnerSetup): Promise<Loaded> {
  const found = known.get(setup);
  if (found) return found;
  const loading = load(setup);
  known.set(setup, loading);
  return loading;
}

async function load({ configs, files, env }: RunnerSetup): Promise<Loaded> {
  const loaded = await loadSettings(configs, { env, files, now: Date.parse(SOME_MOMENT), standIns: true });
  const { settings } = loaded;
  if (!settings || !loaded.ok) throw new SettingsRefused(loaded.diagnostics);
  return { loaded, settings };
}

/** Compiling has told its mistakes to what was read; whoever asks again reads anew, and is told them once. */
function broken(setup: RunnerSetup, diagnostics: readonly Diagnostic[]): SettingsRefused {
  known.delete(setup);
  return new SettingsRefused(diagnostics);
}

/** Nobody's: it opens nothing anywhere else. */
const SUPPOSED_KEY = 'the-key-of-this-case';

/** Who has the key of a case, as the gateway's own key ring says it: a key that has expired by then is refused. */
function supposedKeys({ key }: FullCase, { keys: { keys } }: Settings, clock: Pick<Clock, 'wall'>): KeyRing {
  if (key === undefined) return { find: (given) => (given === SUPPOSED_KEY ? ANYBODY : undefined) };
  const entry = keys.find(({ id }) => id === key);
  if (!entry) throw new UnknownKey(key, { keys });
  // A case asks from no address: wherever the key may be used from, it does.
  const { networks: _, ...own } = entry;
  return createKeyRing({ keys: [{ ...own, digest: digestOf(SUPPOSED_KEY) }] }, clock);
}

/** The last one stands for all behind it. */
function drawFrom(draws: readonly number[]): () => number {
  let at = 0;
  return () => draws[Math.min(at++, draws.length - 1)] ?? 0;
}

const REQUEST_ID = 'x-request-id';

/** The same in every run, unless the client gives one. */
function requestIdOf({ headers = {} }: FullCase): string | undefined {
  const given = Object.keys(headers).some((name) => name.toLowerCase() === REQUEST_ID);
  return given ? undefined : '00000000-0000-7000-8000-000000000001';
}

/**
 * The gateway's own header for the key stands over whatever else may hold one: `Authorization` stays what the caller sends upstream.
 * A case that writes that header itself asks with the key in it.
 */
function requestOf({ request, headers = {}, configId }: FullCase, names: HeaderNames): ClientRequest {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  // A schema of JSON has no type for "any value".
  const body: unknown = request.body;
  const own: Record<string, string> = {};
  if (body !== undefined) own['content-type'] = 'application/json';
  if (names.read(given, 'api-key') === undefined) own[names.nameFor(given, 'api-key')] = SUPPOSED_KEY;
  if (configId !== undefined && names.read(given, 'config') === undefined)
    own[names.nameFor(given, 'config')] = configId;
  return {
    method: request.method ?? 'POST',
    path: request.path ?? '/v1/chat/completions',
    headers: { ...own, ...given },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  };
}
