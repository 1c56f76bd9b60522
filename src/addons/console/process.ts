import { join } from 'node:path';
import { uuidv7 } from '../../core/kernel/ids.ts';
import { packageFile } from '../../core/kernel/package-root.ts';
import type { Console } from '../../core/process/console-port.ts';
import type { ProcessPart, PartTools } from '../../core/process/process-part.ts';
import type { Settings } from '../../core/settings/read/load.ts';
import { valueAt } from '../../core/settings/schema/pointer.ts';
import { Secret } from '../../plugin/index.ts';
import { draftOf } from './drafts/draft.ts';
import { patchEdited, validateEdited } from './drafts/edited-settings.ts';
import { ConsoleWork } from './play/console-work.ts';
import { LongAnswers, type Piece } from './play/long-answers.ts';
import { ServingProcess } from './play/serving.ts';
import { PageFiles } from './page/pages.ts';
import { hashingSender, PrefixHasher } from './prompt-cache/prefix-hashes.ts';
import { BrowserSessions } from './session/sessions.ts';
import { createWrittenReader } from './settings/written-settings.ts';
import { SettingsHistory } from './history/settings-history.ts';
import { KeptRecords } from './records/kept-records.ts';
import { RecordBatches } from './records/record-batches.ts';
import type { KeptRow } from './records/record-file.ts';
import { keptRecordsOf } from './settings/kept-records-settings.ts';
import { Stats, StatsCounter, type CountedStep } from './stats/stats.ts';
import { StatsFiles } from './stats/stats-files.ts';
import { RequestStreams } from './stream/request-stream.ts';
import { startTrial } from './trials/settings-trial.ts';

const STATS = 'console.stats';
const RECORDS = 'console.records';
const ANSWER = 'console.answer';

/** A worker counts its requests; the process with the listener for operators has the page and the counts of all. */
export const openConsole = (tools: PartTools): ProcessPart =>
  tools.role === 'worker' ? ofWorker(tools) : ofListener(tools);

function ofWorker(tools: PartTools): ProcessPart {
  const { clock, settings, shared } = tools;
  const batches = keptRecordsOf(settings.server) && new RecordBatches(clock, (rows) => shared?.tell?.(RECORDS, rows));
  const counter = new StatsCounter(clock, (counted) => shared?.tell?.(STATS, counted));
  const serving = new ServingProcess(tools, (piece) => shared?.tell?.(ANSWER, piece));
  const sender = prefixSender(tools);
  return {
    compose: (inputs) => ({ ...serving.compose(inputs), sender: sender(inputs) }),
    start: (_, data) => serving.start(data),
    asked: (topic, question) => serving.asked(topic, question),
    dry: () => ({}),
    recorded(record, bounded) {
      counter.count(record);
      batches?.add(bounded);
    },
    async close() {
      counter.flush();
      batches?.flush();
    },
  };
}

function ofListener(tools: PartTools): ProcessPart {
  const { clock, ended, log, role, store } = tools;
  const boot = { id: uuidv7(clock.wall()), startedAt: clock.wall() };
  const files = store?.dir === undefined ? undefined : new StatsFiles(join(store.dir, 'stats'), boot.id, log);
  const stats = new Stats(clock, files);
  const counter = new StatsCounter(clock, (counted) => stats.add(counted));
  const kept = openKept(tools);
  const batches = kept && new RecordBatches(clock, (rows) => kept.add(rows));
  // Requests that have ended are counted and written in batches.
  const flush = (): void => {
    ended.flush();
    counter.flush();
    batches?.flush();
  };
  const answers = new LongAnswers();
  const serving = new ServingProcess(tools, (piece) => answers.receive(piece));
  const sender = prefixSender(tools);
  let stopped = false;
  const written = createWrittenReader(tools.configs);
  const history = new SettingsHistory(written, { clock, log });
  const parts = { boot, stats, kept, answers, flush, written, history, ended: () => stopped };
  const consolePort = portOf(tools, parts);
  return {
    console: consolePort,
    compose(inputs) {
      const part = serving.compose(inputs);
      const { files, settings, server } = inputs;
      return {
        sender: sender(inputs),
        use() {
          part.use?.();
          if (files && server.admin.enabled) history.add({ files, settings });
        },
      };
    },
    start: (_, data) => serving.start(data),
    asked: (topic, question) => serving.asked(topic, question),
    dry: () => ({}),
    // The primary serves no requests itself.
    ...(role === 'alone' && {
      recorded(record, bounded) {
        counter.count(record);
        batches?.add(bounded);
      },
    }),
    // The sender is a worker of this gateway.
    told(topic, message) {
      if (topic === STATS) stats.add(message as CountedStep);
      if (topic === ANSWER) answers.receive(message as Piece);
      if (topic === RECORDS) kept?.add(message as readonly KeptRow[]);
    },
    stop: () => void (stopped = true),
    async close() {
      flush();
      stats.write();
      await Promise.all([files?.close(), kept?.close()]);
    },
  };
}

/** The sender that notes prompts, while the settings want that. The key lives as long as the process. */
function prefixSender({ settings: { server } }: PartTools) {
  let hashing: ReturnType<typeof hashingSender> | undefined;
  // A build without the add-on of the store has no such key.
  const secret = valueAt(server, ['state', 'encryption_keys']);
  return ({ settings }: { readonly settings: Settings }) =>
    settings.server.telemetry?.prefix_hashes === true
      ? (hashing ??= hashingSender(new PrefixHasher(secret instanceof Secret ? secret : undefined)))
      : undefined;
}

interface ConsoleParts {
  readonly boot: Console['boot'];
  readonly stats: Stats;
  readonly kept: KeptRecords | undefined;
  readonly answers: LongAnswers;
  readonly written: ReturnType<typeof createWrittenReader>;
  readonly history: SettingsHistory;
  readonly flush: () => void;
  readonly ended: () => boolean;
}

function portOf(
  { clock, configs, env, store }: PartTools,
  { boot, stats, kept, answers, flush, ended, written, history }: ConsoleParts,
): Console {
  const pages = new PageFiles(packageFile('dist/console'));
  const streams = new RequestStreams(clock, ended);
  const work = new ConsoleWork(answers, clock);
  return {
    boot,
    sessions: new BrowserSessions(clock, store),
    written,
    validate: (inForce, texts) => validateEdited(configs, inForce, texts),
    patch: (inForce, texts) => patchEdited(configs, inForce, texts),
    history: () => history.versions(),
    kept: kept && {
      page(query, memory) {
        flush();
        return kept.page(query, memory);
      },
      find(id) {
        flush();
        return kept.find(id);
      },
    },
    page: (path) => pages.find(path),
    draft: (inForce, wish) => draftOf(configs, inForce, wish),
    trial: (inForce, wish, onLeave) => startTrial({ configs, env }, inForce, wish, onLeave),
    test: (ask, question, onLeave) => work.test(ask, question, onLeave),
    play: (ask, question, onLeave) => work.play(ask, question, onLeave),
    stream: (records, options) => streams.open(records, options),
    async stats(query) {
      flush();
      return stats.read(query);
    },
  };
}

/** Undefined: the settings keep no records on disk. */
function openKept({ clock, log, metrics, settings, store }: PartTools): KeptRecords | undefined {
  const limits = keptRecordsOf(settings.server);
  if (!limits || store?.dir === undefined) return undefined;
  const { recordsDropped } = metrics.families;
  const onDrop = (reason: string, records: number): void => recordsDropped.add({ reason }, records);
  return new KeptRecords({ folder: join(store.dir, 'records'), ...limits }, { clock, log, onDrop });
}
