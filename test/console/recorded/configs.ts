import { readSchema, SCHEMA_NAMES } from '../../../src/core/settings/schema/schema-files.ts';
import { streamOf, type Recorded } from '../page.ts';
import { settings } from './objects.ts';
import { PRODUCTION } from './requests.ts';

export const HASH = '04a0fcf0aa';
export const STORED = 'provider: "@simulator"\noverride_params: { model: sim-steady }\n';

const file = 'gateway/production.yaml';
const mark = {
  file,
  line: 14,
  column: 19,
  severity: 'error',
  message: 'there is no entry "@simulater" in the catalog; did you mean "@simulator"?',
  fix: { line: 14, column: 19, end_column: 31, text: '"@simulator"' },
};

/** The validator of a gateway whose one catalog entry is `simulator`. */
export const validate: Recorded = ({ sent }, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(verdictOf(sent)));

const verdictOf = (sent: string): object =>
  sent.includes('@simulater')
    ? { hash: null, unchecked: [], diagnostics: [mark] }
    : { hash: 'f00dfeed', unchecked: [], diagnostics: [] };

export const EFFECT: Recorded = streamOf([
  { event: 'progress', data: { done: 0, of: 300 } },
  {
    event: 'change',
    data: {
      sample: 'req-0000',
      count: 93,
      before: { to: '@simulator/sim-error-503', place: { file, line: 13, column: 9 } },
      after: { to: '@simulator/sim-steady', place: { file, line: 17, column: 9 } },
      fields: [{ path: 'temperature', after: 0.2 }],
    },
  },
  {
    event: 'done',
    data: {
      same: 200,
      changed: 93,
      unknown: 7,
      reasons: [{ reason: 'the record has no value of params.stream', count: 7, sample: 'req-0001' }],
      cases: 5,
    },
  },
]);

export const TESTS: Recorded = streamOf([
  {
    event: 'case',
    data: { file: 'gateway/production.test.yaml', line: 3, name: 'gold goes to the primary', ok: true },
  },
  {
    event: 'case',
    data: {
      file: 'gateway/production.test.yaml',
      line: 12,
      name: 'the spare answers when the primary fails',
      ok: false,
      differences: [
        {
          line: 14,
          column: 7,
          what: 'attempts[1].target',
          expected: 'config.targets[0].targets[1]',
          got: 'config.targets[1]',
        },
      ],
    },
  },
  { event: 'done', data: { passed: 1, failed: 1 } },
]);

export const SETTINGS = {
  ...settings,
  files: [
    { path: 'catalog.yaml', bytes: 900 },
    { path: file, bytes: PRODUCTION.length },
    { path: 'keys.yaml', bytes: 400 },
    { path: 'store/configs/search', bytes: STORED.length },
  ],
};

/** Calls of the screen of settings texts. */
export const CONFIG_ANSWERS: Readonly<Record<string, Recorded>> = {
  'GET /settings': SETTINGS,
  'GET /settings/names': {
    slugs: ['simulator', 'vertex', 'anthropic'],
    models: ['@vertex/gemini-2.5-pro'],
    kinds: ['simulator', 'vertex-ai', 'anthropic'],
    keys: ['search', 'batch'],
    teams: ['search'],
    configs: ['production', 'search'],
    prompts: [],
  },
  ...Object.fromEntries(SCHEMA_NAMES.map((name) => [`GET /schemas/${name}`, readSchema(name)])),
  'GET /configs/search': {
    id: 'search',
    owner: 'store',
    etag: '"7"',
    updated_by: 'ann',
    updated_at: '2026-11-28T18:00:00Z',
    spec: { text: STORED },
  },
  'PATCH /configs/search': { id: 'search', owner: 'store', etag: '"8"', updated_by: 'ann', updated_at: null, spec: {} },
  'POST /settings/validate': validate,
  'POST /settings/patch': {
    folder: '/etc/gatehouse',
    file,
    patch: `--- a/${file}\n+++ b/${file}\n@@ -1,3 +1,3 @@\n-name: Production\n+name: Main\n reply_headers: [explain_id, cost]\n strategy:\n`,
    apply: ['git apply gatehouse.patch && rm gatehouse.patch', 'gatehouse validate --configs /etc/gatehouse'],
    set: [],
    diagnostics: [],
  },
  'GET /settings/history': {
    items: [
      {
        hash: HASH,
        at: '2026-11-28T18:20:00Z',
        files: [
          { path: file, patch: `--- a/${file}\n+++ b/${file}\n@@ -1,1 +1,1 @@\n-name: Prod\n+name: Production\n` },
        ],
      },
      {
        hash: 'aa11bb22',
        at: '2026-11-28T18:10:00Z',
        by: 'bob',
        files: [
          { path: 'store/configs/search', patch: '--- /dev/null\n+++ b/store/configs/search\n@@ -0,0 +1,1 @@\n+{}\n' },
        ],
      },
      { hash: '00112233', at: '2026-11-28T18:00:00Z', files: [] },
    ],
  },
  'POST /settings/effect': EFFECT,
  'POST /settings/tests': TESTS,
};
