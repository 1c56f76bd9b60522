import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { main, thinks } from './common.js';
import { loop } from './langchain.js';

const thinking = thinks ? { thinkingConfig: { includeThoughts: true } } : {};
// <docs>
const model = new ChatGoogleGenerativeAI({
  model: process.env.MODEL,
  apiKey: process.env.GATEHOUSE_API_KEY,
  baseUrl: process.env.GATEHOUSE_URL,
  ...thinking, // Not on the page.
});
// </docs>

await main(() => loop(model));
