import { join } from 'node:path';
import { uuidv7 } from '../../core/kernel/ids.ts';
import { packageFile } from '../../core/kernel/package-root.ts';
import type { ProcessPart, PartTools } from '../../core/process/process-part.ts';
import { Pages } from './page/pages.ts';
import { BrowserSessions } from './session/sessions.ts';
import { createWrittenReader } from './settings/written-settings.ts';
import { Stats, StatsCounter, type CountedStep } from './stats/stats.ts';
import { StatsFiles } from './stats/stats-files.ts';
import { RequestStreams } from './stream/request-stream.ts';

const STATS = 'console.stats';

/** A worker counts its requests; the process with the listener for operators has the page and the counts of all. */
export function openConsole(tools: PartTools): ProcessPart {
  return tools.role === 'worker' ? ofWorker(tools) : ofListener(tools);
}

function ofWorker({ clock, shared }: PartTools): ProcessPart {
  const counter = new StatsCounter(clock, (counted) => shared?.tell?.(STATS, counted));
  return { dry: () => ({}), recorded: (record) => counter.count(record), settle: async () => counter.flush() };
}

function ofListener({ clock, configs, ended, log, role, store }: PartTools): ProcessPart {
  const boot = { id: uuidv7(clock.wall()), startedAt: clock.wall() };
  const pages = new Pages(packageFile('dist/console'));
  const files = store?.folder === undefined ? undefined : new StatsFiles(join(store.folder, 'stats'), boot.id, log);
  const stats = new Stats(clock, files);
  const counter = new StatsCounter(clock, (counted) => stats.add(counted));
  let stopped = false;
  const streams = new RequestStreams(clock, () => stopped);
  return {
    console: {
      boot,
      sessions: new BrowserSessions(clock),
      written: createWrittenReader(configs),
      page: (path) => pages.find(path),
      stream: (records, options) => streams.open(records, options),
      async stats(query) {
        // Requests that have ended are counted in batches.
        ended.flush();
        counter.flush();
        return stats.read(query);
      },
    },
    dry: () => ({}),
    // The primary serves no requests itself.
    ...(role === 'alone' && { recorded: (record) => counter.count(record) }),
    // The sender is a worker of this gateway.
    told: (topic, message) => void (topic === STATS && stats.add(message as CountedStep)),
    stop: () => void (stopped = true),
    async close() {
      counter.flush();
      stats.write();
      await files?.close();
    },
  };
}
