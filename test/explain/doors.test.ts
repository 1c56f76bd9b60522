import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGateway } from '../../src/core/process/gateway.ts';
import { DOORS, featuresOf, knock } from '../operations/doors.ts';
import { PROBE_PROMPT } from '../operations/probes.ts';
import { catalogFor } from '../operations/upstreams.ts';
import { answer } from '../operations/wires.ts';
import { Agreement } from '../support/agreement.ts';
import { KEY, writeSettings } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';
import { connect } from '../http/websockets/kit.testkit.ts';

/** Every door with each of its features; once where the gateway answers itself. */
const KNOCKS = DOORS.flatMap((door) =>
  (door.feature ? featuresOf(door) : [undefined]).map((feature) => ({ door, feature })),
);

it('explain agrees with what was served at every door, for each of its features', async () => {
  const upstream = await startUpstream(answer);
  onTestFinished(() => upstream.close());
  const configs = writeSettings({
    server: {
      files: { dir: mkdtempSync(join(tmpdir(), 'gatehouse-files-')), url: 'https://files.example.com/v1/files' },
    },
    catalog: catalogFor(upstream.url),
    prompts: { probe: PROBE_PROMPT },
  });
  const agreement = new Agreement({ configs, env: {} });
  const options = { configs, env: {}, logTo: { write() {} } };
  const gateway = await startGateway({ ...options, files: agreement.files, watch: agreement.watch });
  for (const { door, feature } of KNOCKS) {
    const headers = { 'x-gateway-api-key': KEY, authorization: 'Bearer caller-token' };
    await (await knock(gateway.data.url, door, { feature, headers })).text();
  }
  const socket = await connect({ url: gateway.data.url });
  await socket.turn({ model: '@openai/gpt-5-mini', input: 'feature: plain' });
  socket.ws.close();
  await socket.end();
  await gateway.close();
  await agreement.check();
  const files = DOORS.filter(({ operation }) => operation.id.startsWith('files.')).length;
  expect(Object.fromEntries(agreement.tally.left)).toEqual({
    'the store of files decides, for which explain has a fake': files,
  });
  // The turn, and the request that opens its socket.
  expect(agreement.tally.compared).toBe(KNOCKS.length - files + 2);
  expect(agreement.tally.attempts).toBe(KNOCKS.filter(({ feature }) => feature).length + 1);
});
