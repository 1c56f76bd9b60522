import type { Load, DrainTimes } from '../../core/process/drain.ts';
import { familiesOf, type FamiliesOf } from '../../core/record/metrics/metrics.ts';
import type { RecordSource } from '../../core/record/record-query.ts';
import { logHint, type HeaderHint } from '../../core/http/gateway/request-path.ts';
import type { Address } from '../../core/http/listener/listeners.ts';
import type { AskParts } from '../../core/process/ask-parts.ts';
import type { WorkerPool, WorkerPoolTools } from '../../core/process/running-gateway.ts';
import type { InForce } from '../../core/process/reload.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { aboutFile, type Diagnostic } from '../../core/settings/source/diagnostic.ts';
import { CannotFork, failureOf, forkWorker, pauseBefore, setUpFork, WorkersFailed } from './fork.ts';
import { Connections } from './connections.ts';
import { WORKER_METRICS } from './metrics.ts';
import { explainedBy } from './pool-explain.ts';
import { PoolLabels, PoolMetrics } from './pool-metrics.ts';
import { PoolListener, takeLastConnections } from './last-connections.ts';
import { ResponseAnswers } from './shared-responses.ts';
import { StateAnswers } from './shared-state.ts';
import { findRecord, mergePages, type Answered } from './pool-records.ts';
import { Channel, type WorkerQuestion, type WorkerQuestions, type SentSettings, type ToPrimary } from './ipc.ts';
import {
  exitFields,
  heldBy,
  KILL_REASONS,
  NO_LOAD,
  Silence,
  stopMember,
  TICK_MS,
  type KillReason,
  type Member,
  type WorkerExit,
} from './pool-member.ts';
import type { ExplainSource } from '../../core/process/explain-port.ts';

/** Limit of a worker's start: plugins may open connections, tokens are fetched, and the machine may be busy. */
const START_LIMIT_MS = 60_000;
const RELOAD_LIMIT_MS = 60_000;
/** Limit of a look-up: Prometheus gives up after 10 s, and the last numbers of a busy worker are better than none. */
const LOOK_UP_LIMIT_MS = 1_000;
/** Limit of a question to a part of one worker, which may call upstreams. */
const PART_LIMIT_MS = 15 * 60_000;

interface PoolOptions {
  readonly size: number;
  /** Folder of the settings, as given. */
  readonly configs: string;
  /** How long a worker may be silent before it is killed. Injected by tests. */
  readonly silenceMs?: number;
}

/** The pool of worker processes: forks them, sends them questions and replaces those that end. */
export class WorkerProcessPool implements WorkerPool {
  readonly #options: PoolOptions;
  readonly #tools: WorkerPoolTools;
  readonly #responses: ResponseAnswers | undefined;
  readonly #state: StateAnswers;
  readonly #families: FamiliesOf<typeof WORKER_METRICS>;
  readonly #metrics: PoolMetrics;
  readonly #labels: PoolLabels;
  readonly #members = new Set<Member>();
  readonly #connections = new Connections();
  readonly #listener = new PoolListener();
  #inForce: InForce | undefined;
  /** The port for workers; undefined: the port of the settings. */
  #port: number | undefined;
  #address: Address | undefined;
  #stopping = false;
  #hinted = false;
  #turn = 0;

  constructor(options: PoolOptions, tools: WorkerPoolTools) {
    this.#options = options;
    this.#tools = tools;
    this.#responses = tools.responses && new ResponseAnswers(tools.responses);
    this.#state = new StateAnswers(tools.usage);
    this.#families = familiesOf(tools.metrics.families, WORKER_METRICS);
    this.#metrics = new PoolMetrics(tools.metrics, () => tools.clock.now());
    this.#labels = new PoolLabels(tools.clock, (names) => void this.#askAll('labels', names));
    tools.stored?.onChange((changes) => {
      for (const { worker } of this.#members)
        if (worker.isConnected()) worker.send({ type: 'stored', changes }, () => {});
    });
    tools.usage?.fleet.onGateways(() => this.#count());
    setUpFork();
    // A blocked worker does not notice that its channel has closed.
    process.once('exit', () => {
      for (const { worker } of this.#members) worker.process.kill('SIGKILL');
    });
  }

  async start(inForce: InForce): Promise<Address> {
    this.#inForce = inForce;
    for (const reason of ['code', 'signal']) this.#families.workerExits.declare({ reason });
    for (const reason of KILL_REASONS) this.#families.workersKilled.declare({ reason });
    this.#families.workerRequestsCut.declare({});
    this.#families.workerConnectionsCut.declare({});
    const starts = Array.from({ length: this.#options.size }, () => this.#startMember(0));
    const [address] = await Promise.all(starts);
    this.#address = address;
    return address!;
  }

  async spread(inForce: InForce): Promise<readonly Diagnostic[]> {
    this.#inForce = inForce;
    return (await Promise.all(this.#serving().map((member) => this.#reload(member)))).flat();
  }

  async scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }> {
    // For a worker that does not respond in time, its last report counts.
    await this.#askAll('metrics', undefined);
    return this.#metrics.scrape(accept);
  }

  readonly records: RecordSource = {
    find: async (id) => findRecord(await this.#askAll('record', { id })),
    page: async (query) => mergePages(await this.#askAll('records', query), query.limit),
  };

  readonly explains: ExplainSource = explainedBy(() => this.#serving());

  readonly ask: AskParts = async (topic, question, of) => {
    if (of === 'one') {
      const members = this.#serving();
      const member = members[(this.#turn += 1) % members.length];
      if (!member) return [];
      return [
        { worker: member.worker.id, answer: await member.channel.ask('part', { topic, question }, PART_LIMIT_MS) },
      ];
    }
    const answers = await this.#askAll('part', { topic, question });
    return answers.flatMap(({ worker, answered, answer }) => (answered ? [{ worker, answer }] : []));
  };

  readonly targets = async (): Promise<readonly string[]> =>
    (await this.#askAll('targets', undefined)).flatMap(({ worker, answer }) =>
      (answer ?? ['does not answer']).map((line) => `worker ${worker}: ${line}`),
    );

  reasons(): readonly string[] {
    const serving = this.#serving();
    if (serving.length === 0) return ['no worker serves'];
    return serving.every(({ silence }) => silence.isSuspect) ? ['no worker answers'] : [];
  }

  async drain(times: DrainTimes): Promise<number> {
    this.#stopping = true;
    const { clock } = this.#tools;
    const members = [...this.#members];
    const kill = this.#kill.bind(this);
    const stopped = Promise.all(members.map((member) => stopMember(member, times, { clock, kill })));
    // Not awaited: the drain is over when its workers have exited.
    void takeLastConnections({ members, listener: this.#listener, connections: this.#connections, clock }, times);
    return (await stopped).reduce((sum, one) => sum + one, 0);
  }

  readonly #serving = (): Member[] =>
    [...this.#members].filter(({ servingSince, ending }) => servingSince !== undefined && !ending);

  /** Sends a question to all workers at once, with a limit. `answer` is undefined if none came in time. */
  #askAll<Q extends WorkerQuestion>(
    question: Q,
    args: WorkerQuestions[Q]['args'],
  ): Promise<Answered<WorkerQuestions[Q]['answer']>[]> {
    return Promise.all(
      this.#serving().map(async ({ worker, channel }) => {
        const [result] = await Promise.allSettled([channel.ask(question, args, LOOK_UP_LIMIT_MS)]);
        const answered = result.status === 'fulfilled';
        return { worker: worker.id, answered, answer: answered ? result.value : undefined };
      }),
    );
  }

  readonly #sent = ({ files }: InForce): SentSettings => ({ configs: this.#options.configs, files: files.contents });

  /** Rejects with the error that a start in this process would have thrown. */
  async #startMember(pausedMs: number): Promise<Address> {
    // A port chosen by the system is kept while some worker has it open. When all are gone, it is requested by number.
    if ([...this.#members].every(({ ending }) => ending)) this.#port = this.#address?.port;
    const member = this.#fork(pausedMs);
    const inForce = this.#inForce!;
    const args = { ...this.#sent(inForce), port: this.#port };
    const answer = await member.channel.ask('start', args, START_LIMIT_MS).catch((error: Error) => {
      // The worker may have exited or hang.
      this.#kill(member, 'start');
      throw new WorkersFailed(`a worker did not start: ${error.message}`);
    });
    if ('failure' in answer) throw failureOf(answer.failure);
    member.servingSince = this.#tools.clock.now();
    member.channel.ask('labels', this.#labels.names, LOOK_UP_LIMIT_MS).catch(() => {});
    this.#count();
    this.#watch(member);
    this.#tools.log.info({ worker: member.worker.id, pid: member.worker.process.pid }, 'a worker serves');
    // The settings may have changed during the start.
    if (this.#inForce !== inForce) await this.#reload(member);
    return answer.address;
  }

  #fork(pausedMs: number): Member {
    const worker = forkWorker();
    const channel = new Channel((message) => void worker.send(message, () => {}), this.#tools.clock);
    const { promise: exited, resolve } = Promise.withResolvers<void>();
    const silence = new Silence(this.#options.silenceMs);
    const connections = this.#connections.follow(worker);
    const reported = { servingSince: undefined, pausedMs, load: NO_LOAD, drained: false, killed: false, ending: false };
    const member: Member = { worker, channel, exited, silence, connections, ...reported };
    this.#members.add(member);
    // Before any question: a worker reads its settings with these objects.
    const { stored } = this.#tools;
    if (stored) worker.send({ type: 'stored', changes: stored.all() }, () => {});
    worker.on('message', (message: ToPrimary) => this.#receive(member, message));
    worker.on('error', (err) => this.#tools.log.error({ err, worker: worker.id }, 'a worker could not be reached'));
    worker.on('exit', (code, signal) => {
      this.#members.delete(member);
      channel.end();
      this.#metrics.ended(worker.id);
      this.#state.ended(worker.id);
      if (worker.process.pid !== undefined) this.#tools.usage?.takeSpool(worker.process.pid);
      this.#count();
      const held = this.#countLost(member);
      // During the first start, a worker that fails ends the start instead.
      if (!this.#stopping && !member.ending && (this.#address || member.servingSince !== undefined))
        this.#replace(member, { code, signal, held });
      resolve();
    });
    return member;
  }

  #countLost(member: Member): Load {
    const held = heldBy(member);
    const { workerRequestsCut, workerConnectionsCut } = this.#families;
    workerRequestsCut.add({}, held.requests);
    workerConnectionsCut.add({}, held.connections);
    return held;
  }

  #receive(member: Member, message: ToPrimary): void {
    member.silence.reset();
    member.connections.isSuspended = false;
    if (message.type === 'answer' || message.type === 'failed') return member.channel.receive(message);
    if (message.type === 'responses') return void this.#answer(member, message);
    if (message.type === 'state') return void this.#answerState(member, message);
    if (message.type === 'label') return this.#labels.receive(message.use);
    if (message.type === 'alert') return this.#tools.alerts?.raise(message.alert);
    if (message.type === 'told') return this.#tools.told?.(message.topic, message.message, member.worker.id);
    if (message.type === 'hint') return this.#logFirst(message.hint);
    if (message.type === 'ending') return this.#replaceEnding(member);
    // Messages may arrive after the exit, when this worker's counters are already in the sum of ended workers.
    if (!this.#members.has(member)) return;
    if (message.type === 'metrics') this.#metrics.receive(member.worker.id, message);
    member.load = message.load;
    member.connections.takeAccepted();
  }

  #logFirst(hint: HeaderHint): void {
    if (!this.#hinted) logHint(this.#tools.log, hint);
    this.#hinted = true;
  }

  #answer({ worker }: Member, message: Extract<ToPrimary, { readonly type: 'responses' }>): Promise<void> {
    if (!this.#responses) return Promise.resolve();
    return this.#responses.answer(message, (answered, left) => {
      // A worker that has exited needs no answer.
      if (worker.isConnected()) worker.send(answered, () => left());
      else left();
    });
  }

  async #answerState({ worker }: Member, message: Extract<ToPrimary, { readonly type: 'state' }>): Promise<void> {
    const answered = await this.#state.answer(worker.id, message);
    if (worker.isConnected()) worker.send(answered, () => {});
  }

  /** A blocked worker gets no connections. If it stays blocked it is killed, and replaced as any other. */
  #watch(member: Member): void {
    const { worker, channel, silence, connections } = member;
    const { clock, log } = this.#tools;
    clock.after(TICK_MS, () => {
      if (!this.#members.has(member)) return;
      const due = silence.tick();
      connections.isSuspended = silence.isSuspect;
      connections.tick();
      if (due === 'end') {
        const reported = { worker: worker.id, pid: worker.process.pid, silent_ms: silence.ms };
        log.error(reported, 'a worker hangs: it has been silent for too long and is killed');
        return this.#kill(member, this.#stopping ? 'drain' : 'blocked');
      }
      if (due === 'ask') channel.ask('alive', undefined, LOOK_UP_LIMIT_MS).catch(() => {});
      this.#watch(member);
    });
  }

  #kill(member: Member, reason: KillReason): void {
    if (!this.#members.has(member)) return;
    if (!member.killed) this.#families.workersKilled.add({ reason });
    member.killed = true;
    member.worker.process.kill('SIGKILL');
  }

  #replace(member: Member, exit: WorkerExit): void {
    const { log, clock } = this.#tools;
    this.#families.workerExits.add({ reason: exit.signal ? 'signal' : 'code' });
    const servedMs = member.servingSince === undefined ? undefined : clock.now() - member.servingSince;
    const pauseMs = pauseBefore(servedMs, member.pausedMs);
    log.error({ ...exitFields(member, exit), again_in_ms: pauseMs }, 'a worker ended; another replaces it');
    this.#startLater(pauseMs);
  }

  #startLater(pauseMs: number): void {
    this.#tools.clock.after(pauseMs, () => {
      if (this.#stopping) return;
      this.#startMember(pauseMs).catch((err: unknown) => {
        this.#tools.log.error({ err }, 'a worker did not start');
        // Any other failed worker has exited or will: its exit starts the next.
        if (err instanceof CannotFork) this.#startLater(pauseBefore(undefined, pauseMs));
      });
    });
  }

  /** Replaces a worker that is ending at once: its own requests may take `drain.timeout`. */
  #replaceEnding(member: Member): void {
    if (member.ending || this.#stopping) return;
    member.ending = true;
    this.#count();
    this.#replace(member, { code: 1, signal: '', held: NO_LOAD });
  }

  /** The mistakes that the worker finds. */
  async #reload(member: Member): Promise<readonly Diagnostic[]> {
    const { log, metrics } = this.#tools;
    const args = this.#sent(this.#inForce!);
    try {
      const { refused } = await member.channel.ask('reload', args, RELOAD_LIMIT_MS);
      if (!refused) return [];
      const diagnostics = refused.map(({ file, line, column, message }) => ({ file, line, column, message }));
      log.error({ worker: member.worker.id, diagnostics }, 'a worker refused the settings');
      metrics.settingsRefused();
      return refused;
    } catch (err) {
      log.error({ err, worker: member.worker.id }, 'a worker did not apply the settings');
      metrics.settingsRefused();
      return [
        aboutFile(this.#options.configs, `worker ${member.worker.id} did not apply the settings: ${messageOf(err)}`),
      ];
    }
  }

  #count(): void {
    const serving = this.#serving().length;
    this.#families.workers.set({}, serving);
    void this.#askAll('share', serving * (this.#tools.usage?.fleet.gateways ?? 1));
  }
}
