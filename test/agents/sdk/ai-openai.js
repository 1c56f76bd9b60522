import { createOpenAI } from '@ai-sdk/openai';
import { turn } from './ai-sdk.js';
import { main } from './common.js';

// <docs>
const openai = createOpenAI({ baseURL: `${process.env.GATEHOUSE_URL}/v1`, apiKey: process.env.GATEHOUSE_API_KEY });
const model = openai(process.env.MODEL);
const providerOptions = { openai: { store: false } };
// </docs>
const thinking = { openai: { store: false, reasoningEffort: 'high', reasoningSummary: 'auto', forceReasoning: true } };

await main(() => turn(model, { providerOptions, thinking }));
