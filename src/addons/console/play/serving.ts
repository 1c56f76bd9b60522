import type { Server } from 'node:http';
import type { SnapshotPart, SnapshotSource } from '../../../core/compose/snapshot-part.ts';
import { partOf } from '../../../core/process/add-on-parts.ts';
import type { PluginFigures, TestQuestion } from '../../../core/process/console-port.ts';
import { CounterSeries, HistogramSeries } from '../../../core/record/metrics/series.ts';
import { outboundOf } from '../../../core/process/outbound.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import type { PartTools } from '../../../core/process/process-part.ts';
import { onlyEntry, withEntry } from './entry-settings.ts';
import type { Piece } from './long-answers.ts';
import { Playground, type PlayQuestion } from './playground.ts';

type Inputs = Parameters<NonNullable<SnapshotSource['compose']>>[0];

/** The work of a process that serves for the console: requests in the name of keys, tests of entries, the health of targets. */
export class ServingProcess {
  readonly #tools: PartTools;
  readonly #tell: (piece: Piece) => void;
  readonly #playground: Playground;
  #inputs: Inputs | undefined;
  #server: Server | undefined;

  constructor(tools: PartTools, tell: (piece: Piece) => void) {
    this.#tools = tools;
    this.#tell = tell;
    this.#playground = new Playground(() => this.#server, tell);
  }

  compose(inputs: Inputs): SnapshotPart {
    return { use: () => void (this.#inputs = inputs) };
  }

  start(server: Server | undefined): void {
    this.#server = server;
  }

  /** The questions of the process that has the listener. Undefined: another topic. */
  asked(topic: string, question: unknown): Promise<unknown> | undefined {
    // The process that asks is of this gateway.
    if (topic === 'console.health') return Promise.resolve(this.#inputs?.shared.health.reports() ?? []);
    if (topic === 'console.plugins') return Promise.resolve(this.#plugins());
    if (topic === 'console.play') return this.#playground.run(question as PlayQuestion);
    if (topic === 'console.stop') return Promise.resolve(this.#playground.stop(String(question)));
    if (topic === 'console.test') return this.#test(question as TestQuestion);
    return undefined;
  }

  /** The values of the metrics: nothing is counted for the console alone. */
  #plugins(): PluginFigures {
    const { pluginDuration, pluginErrors, pluginFailures } = this.#tools.metrics.families;
    const { registry } = this.#inputs?.shared ?? {};
    const named = (label: 'code' | 'kind') => (one: unknown) =>
      one instanceof CounterSeries
        ? [{ plugin: one.labels['plugin'] ?? '', what: one.labels[label] ?? '', count: one.value }]
        : [];
    return {
      external: (registry?.names ?? []).filter((name) => registry?.get(name)?.builtin === false),
      durations: [...pluginDuration.series].flatMap((one) => {
        if (!(one instanceof HistogramSeries)) return [];
        const { buckets, sum } = one.histogram;
        return [{ plugin: one.labels['plugin'] ?? '', sum, ...buckets }];
      }),
      errors: [
        ...[...pluginErrors.series].flatMap(named('code')),
        ...[...pluginFailures.series].flatMap(named('kind')),
      ],
    };
  }

  async #test(question: TestQuestion): Promise<void> {
    const { id } = question;
    try {
      for await (const step of this.#steps(question))
        this.#tell({ id, bytes: Buffer.from(JSON.stringify(step)).toString('base64') });
      this.#tell({ id, end: true });
    } catch (error) {
      this.#tell({ id, failed: messageOf(error) });
    }
  }

  async *#steps({ slug, entry, model, call }: TestQuestion): AsyncIterable<object> {
    const { configs: folder, env } = this.#tools;
    const { settings, files } = this.#inputs ?? {};
    const test = partOf('testEntry');
    if (!settings || !files || !test) throw new Error('this build, or this process, tests no entries');
    const from = performance.now();
    const found = entry ? await withEntry(entry, { folder, env, files, settings }) : onlyEntry(slug ?? '', settings);
    const ms = Math.round(performance.now() - from);
    if (found.problem !== undefined)
      return yield { name: 'settings', ok: false, ms, code: 'settings', message: found.problem };
    yield { name: 'settings', ok: true, ms, message: 'the entry is valid' };
    yield* test({ settings: found.settings, outbound: outboundOf(settings), env, model, call });
  }
}
