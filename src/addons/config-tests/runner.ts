import { SettingsRefused } from '../../core/settings/source/diagnostic.ts';
import type { RecordEnd } from '../../core/record/attempt-end.ts';
import type { LoadResult, Settings } from '../../core/settings/read/load.ts';
import { dryRunOf, type DryRun } from '../../core/dry-run/dry-run.ts';
import { answersOf } from './answers.ts';
import { Calls } from './calls.ts';
import {
  drawFrom,
  requestIdOf,
  requestsOf,
  supposedKeys,
  toClientRequest,
  type CaseRequest,
  type FullCase,
} from './case-requests.ts';
import { startCaseGateway, type CaseGateway } from './case-gateway.ts';
import { passTime, startTime, type CaseTime } from './case-time.ts';
import { ask, type ClientReply, type ClientRequest } from './client.ts';
import { Traffic } from './memory-socket.ts';
import { type CaseOutcome, countedBetween, describeOutcome, countersOf } from './outcome.ts';

export interface RunnerSetup {
  readonly configs: string;
  /** Values of `${env:NAME}`; all other variables have fakes. */
  readonly env: Readonly<Record<string, string>>;
  /** The settings of the folder with this environment. Parsing and validation take longer than a case. */
  readonly loaded: LoadResult;
  readonly onRun?: (run: DryRun) => void;
}

const SOME_MOMENT = '2026-01-01T00:00:00Z';

/**
 * Runs a case against a settings folder, in its own gateway. Returns the outcome of each request of the case, up to one
 * that does not end. Throws UnknownKey, and SettingsRefused, which ends all cases of the setup: compiling adds its errors to `loaded`.
 */
export async function runCase(
  { configs, env, loaded, onRun }: RunnerSetup,
  testCase: FullCase,
): Promise<readonly CaseOutcome[]> {
  const { settings } = loaded;
  if (!settings || !loaded.ok) throw new SettingsRefused(loaded.diagnostics);
  let foreign = false;
  const time = startTime(new Traffic(), Date.parse(testCase.at ?? SOME_MOMENT), () => foreign);
  const now = new Now();
  const gateway = await startCaseGateway({
    loaded,
    configs,
    env,
    time,
    calls: () => now.calls,
    draw: () => now.draw(),
    newId: () => now.requestId,
    keys: supposedKeys(testCase, settings, time.clock),
    onForeignPlugin: () => void (foreign = true),
  });
  if (!gateway) throw new SettingsRefused(loaded.diagnostics);
  const outcomes = await askAll(testCase, now, { loaded, settings, gateway, time, onRun });
  const [last] = outcomes.splice(-1);
  return [...outcomes, { ...last!, faults: [...last!.faults, ...(await close(gateway, time))] }];
}

function noReplay(): never {
  throw new Error('this case has no captures');
}

class Now {
  calls = new Calls(answersOf([], noReplay));
  draw: () => number = () => 0;
  requestId: string | undefined;

  begin(request: CaseRequest, index: number): void {
    this.calls = new Calls(answersOf(request.upstream, request.readReplay ?? noReplay));
    this.draw = drawFrom(request);
    this.requestId = requestIdOf(request, index);
  }
}

interface Running {
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly gateway: CaseGateway;
  readonly time: CaseTime;
  readonly onRun: RunnerSetup['onRun'];
}

async function askAll(testCase: FullCase, now: Now, running: Running): Promise<CaseOutcome[]> {
  const outcomes: CaseOutcome[] = [];
  for (const [index, request] of requestsOf(testCase).entries()) {
    now.begin(request, index);
    const { outcome, isOver } = await askOne(request, now, running);
    outcomes.push(outcome);
    if (!isOver) break;
  }
  return outcomes;
}

async function askOne(
  request: CaseRequest,
  { calls }: Now,
  { loaded, settings, gateway, time, onRun }: Running,
): Promise<{ readonly outcome: CaseOutcome; readonly isOver: boolean }> {
  const late = await waitFor(request.afterMs, time);
  const wall = time.clock.wall();
  const earlier = gateway.served.length;
  const before = countersOf(await gateway.metrics.snapshot('cumulative'));
  const { reply, fault } = await exchange(gateway, time, toClientRequest(request, gateway.snapshot.headerNames));
  const counted = countedBetween(before, countersOf(await gateway.metrics.snapshot('cumulative')));
  const faults = [late, fault].filter((one) => one !== undefined);
  const served = gateway.served[earlier];
  const run =
    served &&
    dryRunOf({
      exchange: served.exchange,
      loaded,
      settings,
      calls: calls.placed,
      end: served.end ?? RUNNING,
      times: { endedAt: served.endedAt, receivedAt: wall },
    });
  if (run) onRun?.(run);
  return {
    outcome: describeOutcome({ run, calls, reply, counted, faults }),
    isOver: fault === undefined,
  };
}

const RUNNING: RecordEnd = { state: 'running', status: 0, bytes: 0, error: undefined };

async function waitFor(ms: number, time: CaseTime): Promise<string | undefined> {
  if (ms === 0) return undefined;
  let over = false;
  time.clock.after(ms, () => (over = true));
  const fault = await passTime(time, () => over, { mostMs: ms });
  return fault && `the work between the requests does not end: ${fault}`;
}

interface Exchanged {
  readonly reply: ClientReply;
  readonly fault: string | undefined;
}

async function exchange(gateway: CaseGateway, time: CaseTime, request: ClientRequest): Promise<Exchanged> {
  const reply = ask(gateway.server, time.traffic, request);
  const fault = await passTime(time, () => reply.over && gateway.served.every(({ end }) => end !== undefined));
  return { reply, fault: fault && `the request does not end: ${fault}` };
}

/** Closing plugins may also wait on the test clock. */
async function close(gateway: CaseGateway, time: CaseTime): Promise<readonly string[]> {
  let closed = false;
  const closing = gateway.close().then(() => (closed = true));
  const fault = await passTime(time, () => closed);
  if (fault !== undefined) return [`the gateway does not close: ${fault}`];
  await closing;
  return [];
}
