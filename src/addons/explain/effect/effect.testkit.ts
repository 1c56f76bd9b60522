import { systemClock } from '../../../core/kernel/system-clock.ts';
import { memoryFiles } from '../../../core/settings/source/files.ts';
import { effectOf, type EffectChange, type EffectDone } from './effect.ts';
import { generatedQuestions } from './generated-questions.ts';
import { readRequests } from './read-requests.ts';
import { openPair, readingOf, type SettingsPair } from './settings-pair.ts';

/** Values of settings files, or their YAML, by their names in the folder. */
export type Files = Readonly<Record<string, object | string>>;

export const FILES: Files = {
  'server.yaml': {},
  'catalog.yaml': {
    providers: [
      { slug: 'openai', provider: 'openai', api_key: '${env:OPENAI_KEY}' },
      { slug: 'claude', provider: 'anthropic', api_key: '${env:CLAUDE_KEY}' },
    ],
    aliases: { fast: { target: '@openai/gpt-4o-mini' } },
  },
  'keys.yaml': { keys: [{ id: 'app', key: '${env:APP_KEY}', default_config: 'prod' }] },
  'gateway/prod.yaml': `strategy:
  mode: conditional
  conditions:
    - query: { metadata.tier: paid }
      then: large
  default: small
targets:
  - { name: large, provider: "@claude", override_params: { model: claude-sonnet-4-5 } }
  - { name: small, provider: "@openai", override_params: { model: gpt-4o-mini } }
`,
};

export async function withPair<T>(
  changed: Files,
  use: (pair: SettingsPair) => Promise<T>,
  base: Files = FILES,
): Promise<T> {
  const version = (files: Files) => ({
    configs: 'configs',
    env: {},
    files: memoryFiles(
      Object.fromEntries(
        Object.entries(files).map(([name, value]) => [
          `configs/${name}`,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      ),
    ),
  });
  const pair = await openPair(version(base), version({ ...base, ...changed }), systemClock);
  try {
    return await use(pair);
  } finally {
    await pair.close();
  }
}

interface Effect {
  readonly changes: readonly EffectChange[];
  readonly done: EffectDone;
}

interface EffectSetup {
  readonly limitMs?: number;
  /** Default: FILES. */
  readonly base?: Files;
}

/** @param lines records or questions; undefined: questions of the settings */
export const effectWith = (
  changed: Files,
  lines?: readonly object[],
  { base, ...limits }: EffectSetup = {},
): Promise<Effect> =>
  withPair(
    changed,
    async (pair) => {
      const asked = lines
        ? await readRequests(
            [Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'))],
            'FILE',
            readingOf(pair),
          )
        : generatedQuestions(pair);
      const changes: EffectChange[] = [];
      for await (const { event, data } of effectOf({ ...asked, pair, clock: systemClock, ...limits })) {
        if (event === 'change') changes.push(data);
        if (event === 'done') return { changes, done: data };
      }
      throw new Error('no end');
    },
    base,
  );

/** A record of a request to `prod`, as the admin API has it. */
export const recordWith = (more: object = {}): object => ({
  request_id: 'r-1',
  time: '2026-11-30T10:00:00.000Z',
  state: 'complete',
  method: 'POST',
  route: '/v1/chat/completions',
  path: '/v1/chat/completions',
  operation: 'chat.completions',
  stream: false,
  settings_hash: 'other',
  config: { id: 'prod', hash: 'other' },
  model: 'any',
  key_id: 'app',
  attempts: [{ target: 'config.targets[1]', provider: 'openai', request_model: 'gpt-4o-mini', outcome: 'success' }],
  skipped: [],
  conditions: [
    { at: 'config', held: 'default', to: 'config.targets[1]', tests: [{ field: 'metadata.tier', found: null }] },
  ],
  ...more,
});
