import { expect, it, onTestFinished } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';

it('The metrics of a fresh gateway take less than 60 KB', async () => {
  const gateway = await startTestGateway({});
  onTestFinished(() => gateway.close());
  const text = await (await fetch(`${gateway.gateway.status.url}/metrics`)).text();
  const sizes = new Map<string, [number, number]>();
  for (const line of text.split('\n')) {
    const name = /^(?:# \w+ )?(\w+)/.exec(line)?.[1]?.replace(/_(bucket|sum|count)$/, '') ?? '';
    const [bytes, lines] = sizes.get(name) ?? [0, 0];
    sizes.set(name, [bytes + line.length + 1, lines + 1]);
  }
  console.log([...sizes].sort((a, b) => b[1][0] - a[1][0]).slice(0, 40).map(([n, [b, l]]) => `${n} ${b} ${l}`).join('\n'), text.length);
  expect(Buffer.byteLength(text)).toBeLessThan(60_000);
});
