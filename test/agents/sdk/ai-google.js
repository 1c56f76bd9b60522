import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { turn } from './ai-sdk.js';
import { main } from './common.js';

// <docs>
const google = createGoogleGenerativeAI({
  baseURL: `${process.env.GATEHOUSE_URL}/v1beta`,
  apiKey: process.env.GATEHOUSE_API_KEY,
});
const model = google(process.env.MODEL);
// </docs>

await main(() => turn(model, { thinking: { google: { thinkingConfig: { includeThoughts: true } } } }));
