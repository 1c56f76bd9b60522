import cluster, { type Worker } from 'node:cluster';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Diagnostic } from '../../settings/diagnostic.ts';
import { TraceSettingsError } from '../../telemetry/trace-settings.ts';
import type { RecordSource } from '../admin.ts';
import type { DrainTimes } from '../drain.ts';
import type { ExplainSource } from '../explain/source.ts';
import { CannotListen, type Address } from '../listeners.ts';
import type { Crew, CrewTools } from '../part.ts';
import type { InForce } from '../reload.ts';
import { pauseBefore } from './backoff.ts';
import { Connections } from './connections.ts';
import { explainedBy } from './crew-explains.ts';
import { CrewMetrics } from './crew-metrics.ts';
import { findRecord, mergeRecords, type Answered } from './crew-records.ts';
import { Channel, type Question, type Questions, type SentSettings, type StartFailure, type ToPrimary } from './ipc.ts';
import { Silence, TICK_MS } from './silence.ts';
import { SettingsRefused } from '../../settings/refused.ts';

/** Plugins that open connections, token exchanges and a busy machine have this long. */
const START_LIMIT_MS = 60_000;
const RELOAD_LIMIT_MS = 60_000;
/** A look-up waits no longer: Prometheus gives up after 10 s, and the last numbers of a busy worker are better than none. */
const LOOK_UP_LIMIT_MS = 1_000;
/** Beyond its own limit a drain has error events to send and telemetry to flush. */
const DRAIN_EXTRA_MS = 10_000;
/** When the delay of a drain is over, workers stop listening once connections have ceased to come, or after 2 s (drain.ts). */
const CLOSED_MS = 3_000;
/** Who has answered everything ends; who does not is ended. */
const EXIT_LIMIT_MS = 2_000;

/** Beside this file in the sources and in `dist/` alike, with the same extension. */
const WORKER_MAIN = fileURLToPath(new URL(`./worker-main${extname(import.meta.url)}`, import.meta.url));

/** A worker did not come to serve, for no reason that the settings explain. */
export class WorkersFailed extends Error {
  override readonly name = 'WorkersFailed';
}

interface Member {
  readonly worker: Worker;
  readonly channel: Channel;
  readonly exited: Promise<void>;
  readonly silence: Silence;
  /** Since when it serves. */
  servingSince: number | undefined;
  /** How long its place was empty before it. */
  readonly pausedMs: number;
}

export interface CrewOptions {
  readonly size: number;
  /** Folder of the settings, as it was named. */
  readonly configs: string;
  /** How long a worker may say nothing before it is killed. Injected by tests. */
  readonly silenceMs?: number;
}

/** The worker processes: forks them, asks them, puts others in the places of those that end. */
export class WorkerCrew implements Crew {
  readonly #options: CrewOptions;
  readonly #tools: CrewTools;
  readonly #metrics: CrewMetrics;
  readonly #members = new Set<Member>();
  readonly #connections = new Connections();
  #inForce: InForce | undefined;
  /** What workers are told to listen on; undefined: what the settings say. */
  #port: number | undefined;
  #address: Address | undefined;
  #stopping = false;

  constructor(options: CrewOptions, tools: CrewTools) {
    this.#options = options;
    this.#tools = tools;
    this.#metrics = new CrewMetrics(tools.metrics);
    // A structured clone keeps what JSON loses: maps, NaN.
    cluster.setupPrimary({ exec: WORKER_MAIN, args: [], serialization: 'advanced' });
  }

  async start(inForce: InForce): Promise<Address> {
    this.#inForce = inForce;
    const { families } = this.#tools.metrics;
    for (const reason of ['code', 'signal']) families.workerExits.add({ reason }, 0);
    const starts = Array.from({ length: this.#options.size }, () => this.#startMember(0));
    const [address] = await Promise.all(starts);
    this.#address = address;
    return address!;
  }

  async spread(inForce: InForce): Promise<void> {
    this.#inForce = inForce;
    await Promise.all(this.#serving().map((member) => this.#reload(member)));
  }

  async scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }> {
    // Of one that says nothing in time its last word counts.
    await this.#askAll('metrics', undefined);
    return this.#metrics.scrape(accept);
  }

  readonly records: RecordSource = {
    find: async (id) => findRecord(await this.#askAll('record', { id })),
    list: async (query) => mergeRecords(await this.#askAll('records', query), query.limit),
  };

  readonly explains: ExplainSource = explainedBy(() => this.#serving());

  async targets(): Promise<readonly string[]> {
    const answers = await this.#askAll('targets', undefined);
    return answers.flatMap(({ worker, answer }) =>
      (answer ?? ['does not answer']).map((line) => `worker ${worker}: ${line}`),
    );
  }

  reasons(): readonly string[] {
    return this.#serving().length === 0 ? ['no worker serves'] : [];
  }

  async drain(times: DrainTimes): Promise<number> {
    this.#stopping = true;
    this.#tools.clock.after(times.delayMs + CLOSED_MS, () => this.#connections.stop());
    const cut = await Promise.all([...this.#members].map((member) => this.#stop(member, times)));
    return cut.reduce((sum, one) => sum + one, 0);
  }

  #serving(): Member[] {
    return [...this.#members].filter(({ servingSince }) => servingSince !== undefined);
  }

  /** All at once, none for long: `answer` is undefined where there was none in time. */
  #askAll<Q extends Question>(question: Q, asked: Questions[Q]['asked']): Promise<Answered<Questions[Q]['answer']>[]> {
    return Promise.all(
      this.#serving().map(async ({ worker, channel }) => {
        const [result] = await Promise.allSettled([channel.ask(question, asked, LOOK_UP_LIMIT_MS)]);
        const answered = result.status === 'fulfilled';
        return { worker: worker.id, answered, answer: answered ? result.value : undefined };
      }),
    );
  }

  #sent({ files }: InForce): SentSettings {
    return { configs: this.#options.configs, files: files.contents };
  }

  /** Rejects with what a start in this process would have rejected with. */
  async #startMember(pausedMs: number): Promise<Address> {
    // A port the system chose lasts while somebody has it open. When all are gone, it is asked for by its number.
    if (this.#members.size === 0) this.#port = this.#address?.port;
    const member = this.#fork(pausedMs);
    const inForce = this.#inForce!;
    const asked = { ...this.#sent(inForce), port: this.#port };
    const answer = await member.channel.ask('start', asked, START_LIMIT_MS).catch((error: Error) => {
      // It may have ended, or hang.
      member.worker.process.kill('SIGKILL');
      throw new WorkersFailed(`a worker did not start: ${error.message}`);
    });
    if ('failure' in answer) throw failureOf(answer.failure);
    member.servingSince = this.#tools.clock.now();
    this.#count();
    this.#watch(member);
    this.#tools.log.info({ worker: member.worker.id, pid: member.worker.process.pid }, 'a worker serves');
    // Settings that came into force while it was starting.
    if (this.#inForce !== inForce) await this.#reload(member);
    return answer.address;
  }

  #fork(pausedMs: number): Member {
    const worker = cluster.fork();
    const channel = new Channel((message) => void worker.send(message, () => {}), this.#tools.clock);
    const { promise: exited, resolve } = Promise.withResolvers<void>();
    const silence = new Silence(this.#options.silenceMs);
    const member: Member = { worker, channel, exited, silence, servingSince: undefined, pausedMs };
    this.#members.add(member);
    this.#connections.follow(worker, () => this.#serving().some((other) => other !== member));
    worker.on('message', (message: ToPrimary) => {
      silence.heard();
      if (message.type !== 'metrics') channel.heard(message);
      // Messages may come after the end: by then what this worker has counted stands among the dead.
      else if (this.#members.has(member)) this.#metrics.heard(worker.id, message);
    });
    worker.on('error', (err) => this.#tools.log.error({ err, worker: worker.id }, 'a worker could not be reached'));
    worker.on('exit', (code, signal) => {
      this.#members.delete(member);
      channel.end();
      this.#metrics.ended(worker.id);
      this.#count();
      // At the first start a worker that does not come to serve ends the start.
      if (!this.#stopping && (this.#address || member.servingSince !== undefined))
        this.#replace(member, { code, signal });
      resolve();
    });
    return member;
  }

  /** One that hangs does not end by itself: it is killed, and then replaced as any other that died. */
  #watch(member: Member): void {
    const { worker, channel, silence } = member;
    this.#tools.clock.after(TICK_MS, () => {
      if (!this.#members.has(member)) return;
      const due = silence.tick();
      if (due === 'end') {
        const { pid } = worker.process;
        this.#tools.log.error(
          { worker: worker.id, pid },
          'a worker hangs: it has said nothing for too long, and is killed',
        );
        return void worker.process.kill('SIGKILL');
      }
      if (due === 'ask') channel.ask('alive', undefined, LOOK_UP_LIMIT_MS).catch(() => {});
      this.#watch(member);
    });
  }

  #replace(member: Member, { code, signal }: { readonly code: number; readonly signal: string }): void {
    const { log, metrics, clock } = this.#tools;
    metrics.families.workerExits.add({ reason: signal ? 'signal' : 'code' });
    const servedMs = member.servingSince === undefined ? undefined : clock.now() - member.servingSince;
    const pauseMs = pauseBefore(servedMs, member.pausedMs);
    const { id, process } = member.worker;
    log.error(
      { worker: id, pid: process.pid, ...(signal ? { signal } : { code }), again_in_ms: pauseMs },
      'a worker ended; another takes its place',
    );
    clock.after(pauseMs, () => {
      if (this.#stopping) return;
      // One that refuses to start ends, and that is told above.
      this.#startMember(pauseMs).catch((err: unknown) => log.error({ err }, 'a worker did not start'));
    });
  }

  async #reload(member: Member): Promise<void> {
    const { log, metrics } = this.#tools;
    const asked = this.#sent(this.#inForce!);
    try {
      const { refused } = await member.channel.ask('reload', asked, RELOAD_LIMIT_MS);
      if (!refused) return;
      log.error({ worker: member.worker.id, diagnostics: refused.map(short) }, 'a worker refused the settings');
    } catch (err) {
      log.error({ err, worker: member.worker.id }, 'a worker did not take the settings over');
    }
    metrics.settingsRefused();
  }

  /** Gives how many requests were cut; of a worker that had to be killed nobody knows, so it counts as one. */
  async #stop(member: Member, times: DrainTimes): Promise<number> {
    const { worker, channel, exited } = member;
    const { clock } = this.#tools;
    const kill = (): void => void worker.process.kill('SIGKILL');
    if (member.servingSince === undefined) {
      kill();
      await exited;
      return 0;
    }
    let cut = 1;
    try {
      const limitMs = times.delayMs + times.timeoutMs + times.lingerMs + DRAIN_EXTRA_MS;
      ({ cut } = await channel.ask('drain', times, limitMs));
      await channel.ask('metrics', undefined, LOOK_UP_LIMIT_MS);
      // It ends when the channel does.
      worker.process.disconnect();
    } catch {
      kill();
    }
    const giveUp = clock.after(EXIT_LIMIT_MS, kill);
    await exited;
    giveUp();
    return cut;
  }

  #count(): void {
    this.#tools.metrics.families.workers.set({}, this.#serving().length);
  }
}

const short = ({ file, line, column, message }: Diagnostic): object => ({ file, line, column, message });

function failureOf(failure: StartFailure): Error {
  if (failure.kind === 'settings') return new SettingsRefused(failure.diagnostics);
  if (failure.kind === 'listen') return new CannotListen(failure.message);
  if (failure.kind === 'traces') return new TraceSettingsError(failure.message);
  return new WorkersFailed(`a worker did not start: ${failure.message}`);
}
