import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { KEY, startTestGateway } from '../support/gateway.ts';

it('telemetry.records writes the record of each request into a file, as the admin listener shows it, without its text', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-records-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const server = await startTestGateway({ server: { telemetry: { records: { dir } } } });
  const ask = (model: string) =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'canary text' }] }),
    }).then((reply) => reply.text());
  await ask('@sim/demo');
  await ask('@sim/sim-error-503');
  const shown = server.gateway.records({ limit: 10 });
  const [failed, answered] = shown as readonly { readonly request_id: string }[];
  const whole = [answered, failed].map((one) => server.gateway.record(one!.request_id));
  await server.close();
  const written = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8'));
  expect(written).toHaveLength(1);
  const lines = written[0]!.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(whole);
  expect(written[0]).not.toContain('canary');
  expect(written[0]).not.toContain(KEY);
});
