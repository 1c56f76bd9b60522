import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANN, KEYS, rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { Engine } from '../../src/addons/budgets/store/sqlite/engine.ts';
import { commands } from '../../src/cli/commands.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { ROLLUP_DIMENSIONS } from '../../src/core/ports/ledger.ts';
import { driverOf, type StoreEntry } from '../../src/core/ports/store-driver.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { formatDiagnostics, type SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { Secret } from '../../src/plugin/index.ts';
import { writeSettings } from '../support/gateway.ts';

const DAY = 86_400_000;
const FIRST = Date.UTC(2026, 10, 20, 12);
const EVER = { from: 0, to: Date.UTC(2100, 0, 1) };
/** More than one batch a day. */
export const ROWS = 2_500;
export const DAYS = 3;
export const NANO = 1_000_003;
const BOOT = {
  id: 'b'.repeat(32),
  host: 'h',
  role: 'single',
  version: '1',
  configHash: 'c',
  startedAt: FIRST,
} as const;
const SEALED = 'canary-webhook-secret';

export interface Moved {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with a store, and settings that name one in PostgreSQL. */
export interface Moving {
  readonly folder: string;
  readonly configs: string;
  readonly env: Readonly<Record<string, string>>;
  /** @param onLine called with the number of each line of output; what it throws ends the command, as an end of its process would */
  move(args?: readonly string[], onLine?: (line: number) => void): Promise<Moved>;
  before(): Promise<StoreContents>;
  after(): Promise<StoreContents>;
  /** Why a gateway with the settings, or with the folder as its store, does not start. Undefined: it does. */
  refusal(of?: 'folder'): Promise<string | undefined>;
  end(): void;
}

/** @param store keys of `state.store` @param folder that of another move @param batches of rows on each day */
export function startMoving(url: string, store: object, folder?: string, batches = 1): Moving {
  const top = mkdtempSync(join(tmpdir(), 'gatehouse-move-'));
  const own = folder ?? join(top, 'state');
  if (folder === undefined) fill(own, batches);
  const env = { ...(process.env as Record<string, string>), DATABASE_URL: url, ENCRYPTION_KEYS: KEYS };
  const settings = (entry: object): string =>
    writeSettings({
      server: { state: { store: entry, dir: own, owns: ['teams'], encryption_keys: '${env:ENCRYPTION_KEYS}' } },
    });
  const configs = settings({ type: 'postgres', url: '${env:DATABASE_URL}', ...store });
  const old = settings({ type: 'sqlite', dir: own });
  const secrets = [decodeURIComponent(new URL(url).password), KEYS.slice(3), SEALED];
  const read = async (entry: StoreEntry): Promise<StoreContents> =>
    contentsOf(await driverOf(entry).read(entry, { clock: systemClock, keys: KEYS }));
  return {
    folder: own,
    configs,
    env,
    async move(args = [], onLine = () => {}) {
      let [out, err, lines] = ['', '', 0];
      const code = await commands.get('state migrate')!.run(['--to', 'postgres', '--configs', configs, ...args], {
        env,
        terminal: undefined,
        input: async () => Buffer.alloc(0),
        out(more) {
          out += more;
          lines += 1;
          onLine(lines);
        },
        err: (more) => void (err += more),
      });
      for (const secret of secrets) if ((out + err).includes(secret)) throw new Error('the command has shown a secret');
      return { code, out, err };
    },
    before: () => read({ type: 'sqlite', dir: own } as StoreEntry),
    after: () => read({ type: 'postgres', url: new Secret(url), ...store } as StoreEntry),
    async refusal(of) {
      for (;;) {
        const starting = startGateway({ configs: of ? old : configs, env, logTo: { write() {} } });
        const outcome = await starting.catch((error: SettingsRefused) => error);
        if ('diagnostics' in outcome) return formatDiagnostics(outcome.diagnostics, 'pretty');
        const answers = outcome.state?.store !== undefined;
        await outcome.close();
        // On a busy machine it may have begun without a store that did not answer in time.
        if (answers) return undefined;
      }
    },
    end() {
      for (const path of [top, configs, old]) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Opens the store of a folder, as a gateway does that has it. */
export const openFolder = (folder: string): Engine =>
  new Engine({ folder, owner: { pid: process.pid, boot: BOOT.id, host: 'h' }, keys: KEYS, now: FIRST });

/** Objects with secrets, a live lease, and a ledger whose first day was dropped. */
function fill(folder: string, batches: number): void {
  const store = openFolder(folder);
  const { calls } = store;
  const doc = { name: 'Search' };
  calls.write(FIRST, [{ op: 'put', kind: 'teams', id: 'search', doc, secrets: { webhook: SEALED } }], ANN);
  calls.write(FIRST, [{ op: 'put', kind: 'teams', id: 'ads', doc }], ANN);
  calls.write(FIRST, [{ op: 'put', kind: 'teams', id: 'gone', doc }], ANN);
  calls.write(FIRST, [{ op: 'delete', kind: 'teams', id: 'gone' }], ANN);
  calls.addAudit(FIRST, { action: 'login', kind: 'tokens', id: 'a\0\ud800b' }, ANN);
  calls.take(FIRST, [{ path: [{ node: 'team/search', period: 0 }], caps: [9e9], need: 5, want: 7 }], BOOT, 1);
  for (let batch = 0; batch < DAYS * batches; batch += 1)
    calls.append(
      FIRST,
      Array.from({ length: ROWS }, (_, index) =>
        rowOf(batch * ROWS + index, {
          at: FIRST + Math.floor(batch / batches) * DAY,
          nano: NANO,
          // Callers choose the names of models, and PostgreSQL has no U+0000 in a text.
          model: index === 0 ? 'a\0b' : `m${index % 7}`,
          team: 'search',
        }),
      ),
    );
  calls.dropBefore(FIRST, new Date(FIRST + DAY).toISOString().slice(0, 10));
  calls.addAudit(FIRST, { action: 'logout', kind: 'tokens', id: 'ann' }, ANN);
  store.close();
}

type Reader = Awaited<ReturnType<ReturnType<typeof driverOf>['read']>>;
export type StoreContents = Awaited<ReturnType<typeof contentsOf>>;

const shown = <Value>(value: Value): Value =>
  JSON.parse(JSON.stringify(value).replaceAll(String.raw`\u0000`, '\ufffd')) as Value;

async function contentsOf(store: Reader) {
  const [counters, rows] = [[] as object[], [] as object[]];
  for await (const piece of store.counters.all()) counters.push(...piece);
  for await (const piece of store.ledger.rows(EVER)) rows.push(...piece);
  const { version, changed, gone } = await store.entities.load(0);
  const sums = await store.ledger.rollups({ ...EVER, by: ROLLUP_DIMENSIONS, step: 'day' });
  const audit = await store.audit.verify();
  await store.close();
  return shown({ version, objects: changed, gone, counters, rows, sums, audit });
}
