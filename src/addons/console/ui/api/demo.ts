import { refusalOf, stream } from './client.ts';
import { DEMO_BODY } from './curl.ts';

/** Sends the demo request through the playground, as the key of the sample. */
export async function sendDemo(): Promise<void> {
  const response = await stream('/playground', { body: { as: 'demo', path: '/v1/chat/completions', body: DEMO_BODY } });
  if (!response.ok) throw refusalOf(await response.json().catch(() => undefined), response.status);
  await response.text();
}
