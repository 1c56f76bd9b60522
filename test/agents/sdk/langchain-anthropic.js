import { ChatAnthropic } from '@langchain/anthropic';
import { main, thinks } from './common.js';
import { loop } from './langchain.js';

const thinking = thinks ? { maxTokens: 9000, thinking: { type: 'adaptive' } } : {};
// <docs>
const model = new ChatAnthropic({
  model: process.env.MODEL,
  apiKey: process.env.GATEHOUSE_API_KEY,
  anthropicApiUrl: process.env.GATEHOUSE_URL,
  ...thinking, // Not on the page.
});
// </docs>

await main(() => loop(model));
