import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { FAILURE_KINDS } from '../../src/plugin/failures.ts';
import { ERROR_LABELS } from '../../src/core/record/error-types.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { entriesFor, json, startUpstream } from '../support/upstream.ts';

const scrape = async ({ gateway }: TestGateway): Promise<string> =>
  (await fetch(`${gateway.status.url}/metrics`)).text();

/** The slugs of the sample catalog, those in comments too. */
const SLUGS = [...readFileSync(packageFile('configs/catalog.yaml'), 'utf8').matchAll(/- slug: (\S+)/g)].map(
  ([, slug]) => slug!,
);

it('The metrics of a fresh gateway take less than 62 KB, with all entries of the sample catalog', async () => {
  const providers = SLUGS.map((slug) => ({ slug, provider: 'openai', api_key: '${env:NONE:-key}' }));
  const gateway = await startTestGateway({
    catalog: { providers },
    gateway: { default: { provider: `@${SLUGS[0]}` } },
  });
  onTestFinished(() => gateway.close());
  const text = await scrape(gateway);
  expect(SLUGS.length).toBeGreaterThan(5);
  // A kind of garbage collection has its rows from the first one on, and the time of that one is chance.
  const always = text.replaceAll(/^nodejs_gc_duration_seconds.*\n/gm, '');
  expect(Buffer.byteLength(always)).toBeLessThan(62_000);
  // No series by route exists before a request has come.
  expect(text).not.toMatch(/^[^#].*route="/m);
});

it('Errors count from 0 before the first one, by entry and kind, and by code', async () => {
  const upstream = await startUpstream((_, res) => json(res, { error: { message: 'busy' } }, 503));
  onTestFinished(() => upstream.close());
  const gateway = await startTestGateway({ catalog: { providers: entriesFor(upstream.url) } });
  onTestFinished(() => gateway.close());
  const before = await scrape(gateway);
  for (const kind of Object.keys(FAILURE_KINDS))
    expect(before).toContain(`gatehouse_upstream_failures_total{provider="openai",kind="${kind}"} 0\n`);
  for (const code of Object.keys(ERROR_LABELS))
    expect(before).toContain(`gatehouse_request_errors_total{code="${code}"} 0\n`);
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
    body: JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await reply.arrayBuffer();
  const after = await scrape(gateway);
  expect(after).toContain('gatehouse_upstream_failures_total{provider="openai",kind="overloaded"} 1\n');
  expect(after).toContain('gatehouse_request_errors_total{code="overloaded"} 1\n');
});
