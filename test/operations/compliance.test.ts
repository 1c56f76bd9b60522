import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelTask } from '../../src/plugin/index.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { PROBE_PROMPT, PROBES } from './probes.ts';
import { ASKING, send } from './table.ts';
import { catalogFor, UPSTREAMS } from './upstreams.ts';
import { answer } from './wires.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(answer);
  gateway = await startTestGateway({ catalog: catalogFor(upstream.url), prompts: { probe: PROBE_PROMPT } });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const GOOGLE = UPSTREAMS[0]!;
/** Serves the tasks that pass through. */
const OPENAI = UPSTREAMS.find(({ slug }) => slug === 'openai')!;
const PASSED: ReadonlySet<ModelTask | undefined> = new Set<ModelTask>([
  'completions',
  'moderations',
  'speech',
  'transcriptions',
  'translations',
  'image_edits',
  'image_variations',
]);

describe.each(ASKING.map((operation) => [operation.path, operation] as const))(
  'the compliance flag on %s',
  (_, operation) => {
    const { plain, stream } = PROBES[operation.id]!;
    const { models, slug } = PASSED.has(operation.task) ? OPENAI : GOOGLE;
    const asked = { slug, model: models[operation.task!] ?? models.generate, probe: (plain ?? stream)! };

    it.each(['true', 'false'])('may be %s', async (compliance) => {
      const { status, text } = await send(gateway.url, operation, { ...asked, compliance });
      expect([status, asked.probe.shows(text)]).toEqual([200, true]);
    });

    it('is nothing else, and the refusal is in the words of the API', async () => {
      const { status, text } = await send(gateway.url, operation, { ...asked, compliance: 'perhaps' });
      expect(status).toBe(400);
      expect(text).toContain('x-gateway-strict-open-ai-compliance');
      const { body } = operation.format.encodeError({
        status: 400,
        message: '',
        type: '',
        code: null,
        param: null,
        requestId: '',
      });
      expect(Object.keys(JSON.parse(text) as object)).toEqual(Object.keys(body));
    });
  },
);
