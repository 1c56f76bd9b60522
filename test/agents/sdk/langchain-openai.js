import { ChatOpenAI } from '@langchain/openai';
import { main, thinks } from './common.js';
import { loop } from './langchain.js';

const reasoning = thinks ? { reasoning: { effort: 'high', summary: 'auto' } } : {};
// <docs>
const model = new ChatOpenAI({
  model: process.env.MODEL,
  apiKey: process.env.GATEHOUSE_API_KEY,
  configuration: { baseURL: `${process.env.GATEHOUSE_URL}/v1` },
  useResponsesApi: true,
  zdrEnabled: true,
  ...reasoning, // Not on the page.
});
// </docs>

await main(() => loop(model));
