/** Starts the gateway with test/core/settings before an upstream of its own, sends one chat, and prints its status and text. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { addOns } from '../../src/addons/index.ts';
import { registerAddOns } from '../../src/core/commands/add-on.ts';
import { startGateway } from '../../src/core/process/gateway.ts';

const REPLY = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
};

await registerAddOns(addOns);
const upstream = createServer((_, res) => {
  res.setHeader('content-type', 'application/json').end(JSON.stringify(REPLY));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => upstream.once('listening', resolve));
const { port } = upstream.address() as AddressInfo;
const key = 'a-key-of-the-test-0123456789';
const gateway = await startGateway({
  configs: join(import.meta.dirname, 'settings'),
  env: { UPSTREAM_URL: `http://127.0.0.1:${port}`, UPSTREAM_KEY: 'sk-test', GATEWAY_KEY: key },
  logTo: { write() {} },
});
const response = await fetch(`http://127.0.0.1:${gateway.data.port}/v1/chat/completions`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: '@upstream/m', messages: [{ role: 'user', content: 'Hi' }] }),
});
const body = (await response.json()) as typeof REPLY;
process.stdout.write(JSON.stringify({ status: response.status, text: body.choices?.[0]?.message.content, body }));
await gateway.close();
upstream.close();
