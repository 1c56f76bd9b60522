import explanation from './explanation.json' with { type: 'json' };
import { streamOf, type Recorded } from '../page.ts';
import { CONFIG_ANSWERS } from './configs.ts';
import { promptCache, usage } from './costs.ts';
import { auditRows, fired, people, plugins, promptDraft, prompts, tokens, webhooks } from './govern.ts';
import { budgets, costs, kinds, keyList, providers, stats, teams } from './objects.ts';
import { idOf, lines, places, PRODUCTION, request, session } from './requests.ts';

/** An answer for each call of the page: a gateway with 280 requests. */
export const ANSWERS: Readonly<Record<string, Recorded>> = {
  ...CONFIG_ANSWERS,
  'GET /session': session,
  'GET /stream': streamOf(),
  'GET /requests': { items: lines(180), oldest: '2026-11-28T18:00:00Z', partial: [] },
  [`GET /requests/${idOf(0)}`]: request,
  'GET /stats': (_, response, query) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(stats(query.get('by')))),
  'GET /usage': (_, response, query) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(usage(query))),
  'GET /prompt-cache': promptCache,
  'GET /providers': { items: providers },
  'GET /providers/kinds': { items: kinds },
  'POST /providers:test': streamOf([
    { event: 'step', data: { name: 'settings', ok: true, ms: 3 } },
    { event: 'step', data: { name: 'address', ok: true, ms: 1 } },
    { event: 'step', data: { name: 'dns', ok: true, ms: 12, message: '142.250.1.95' } },
    { event: 'step', data: { name: 'connect', ok: true, ms: 48 } },
    { event: 'step', data: { name: 'clock', ok: null, ms: 0, message: 'no token endpoint has answered' } },
    { event: 'step', data: { name: 'token', ok: true, ms: 130 } },
    {
      event: 'step',
      data: {
        name: 'permission',
        ok: false,
        ms: 61,
        code: 'upstream_permission',
        message: "Permission 'aiplatform.endpoints.predict' denied.",
        hint: 'Grant roles/aiplatform.user to gateway@acme-prod.iam.gserviceaccount.com in project acme-prod.',
      },
    },
    { event: 'done', data: { ok: false } },
  ]),
  'POST /providers:draft': {
    file: 'catalog.yaml',
    patch:
      '--- a/catalog.yaml\n+++ b/catalog.yaml\n@@ -3,2 +3,5 @@\n   - slug: simulator\n     provider: simulator\n+  - slug: anthropic-2\n+    provider: anthropic\n+    api_key: ${env:ANTHROPIC_2_API_KEY}\n',
    folder: '/etc/gatehouse',
    apply: ['git apply console.patch'],
    set: ['export ANTHROPIC_2_API_KEY=...'],
    diagnostics: [],
  },
  'GET /keys': { items: keyList },
  'GET /keys/search': keyList[0]!,
  'GET /teams': { items: teams },
  'GET /organizations': { items: [] },
  'GET /budgets': { items: budgets },
  'GET /prompts': { items: prompts },
  'POST /prompts/ticket-summary:render': {
    version: null,
    request: { model: '@vertex/gemini-2.5-flash', messages: [{ role: 'system', content: 'Be formal.' }] },
  },
  'POST /prompts:draft': promptDraft,
  'GET /alerts': { items: webhooks },
  'GET /alerts/fired': { items: fired },
  'POST /alerts/ops:test': { webhook: 'ops', state: 'delivered', tries: 1 },
  'GET /plugins': { items: plugins },
  'GET /people': { items: people },
  'GET /tokens': { items: tokens },
  'GET /audit': { items: auditRows },
  'GET /audit:verify': {
    intact: true,
    rows: 120,
    seq: 120,
    head: 'ab'.repeat(32),
    parts: [
      { from: 1, to: 20, proof: 'none' },
      { from: 21, to: 120, proof: 'key', key: 'k1' },
    ],
  },
  'GET /find': {
    items: [
      { kind: 'keys', id: 'search' },
      { kind: 'teams', id: 'search' },
      { kind: 'prompts', id: 'search' },
    ],
  },
  [`GET /requests/${idOf(0)}/costs`]: costs,
  [`GET /requests/${idOf(0)}/test`]: {
    file: 'gateway/production.test.yaml',
    text: 'cases:\n  - name: is rescued by config.targets[1]\n    request: {}\n    expect: { status: 200 }\n',
    passes: true,
    notes: ['the body was not kept: the case has one that takes the same way'],
  },
  [`GET /requests/${idOf(0)}/curl`]: { command: 'curl', kept: false },
  'GET /captures': {
    items: [
      {
        id: 'c1',
        by: 'ann',
        where: { key: ['search'] },
        state: 'running',
        requests: 20,
        captured: 3,
        too_large: 1,
        bytes: 4711,
        started_at: '2026-11-28T17:00:00Z',
        until: '2026-11-28T17:10:00Z',
        gone_at: '2026-11-28T17:20:00Z',
      },
    ],
  },
  'GET /explain/exp1': explanation,
  'POST /explain': explanation,
  'GET /settings/places': places,
  'GET /settings/file': (_, response, query) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ path: query.get('path'), hash: '04a0fcf0aa', text: PRODUCTION, masked: [] })),
};
