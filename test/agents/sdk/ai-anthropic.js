import { createAnthropic } from '@ai-sdk/anthropic';
import { turn } from './ai-sdk.js';
import { main } from './common.js';

// <docs>
const anthropic = createAnthropic({
  baseURL: `${process.env.GATEHOUSE_URL}/v1`,
  apiKey: process.env.GATEHOUSE_API_KEY,
});
const model = anthropic(process.env.MODEL);
// </docs>

await main(() => turn(model, { thinking: { anthropic: { thinking: { type: 'adaptive' } } } }));
