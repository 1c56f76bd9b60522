import { curlOf } from '../../api/curl.ts';
import { bodyOf, type PlayAsk } from './conversation.ts';

/** The same question in the code of an application. The key comes from its environment. */
export function codeOf(
  url: string,
  ask: PlayAsk,
  model: string,
): readonly { readonly name: string; readonly text: string }[] {
  const { stream_options: _, ...body } = bodyOf(ask, model);
  const [text, named] = [JSON.stringify(ask.text), JSON.stringify(model)];
  const header = ask.config === '' ? '' : `, 'x-gateway-config': ${JSON.stringify(ask.config)}`;
  return [
    { name: 'curl', text: curlOf({ url, headers: ask.config === '' ? {} : { 'x-gateway-config': ask.config }, body }) },
    {
      name: 'OpenAI SDK',
      text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: process.env.GATEWAY_KEY${header === '' ? '' : `, defaultHeaders: {${header.slice(1)} }`} });
const stream = await client.chat.completions.create(${JSON.stringify(body)});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
    },
    {
      name: 'Anthropic SDK',
      text: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${url}', apiKey: process.env.GATEWAY_KEY${header === '' ? '' : `, defaultHeaders: {${header.slice(1)} }`} });
const message = await client.messages.create({
  model: ${named},
  max_tokens: 1024,
  messages: [{ role: 'user', content: ${text} }],
});`,
    },
    {
      name: 'google-genai',
      text: `import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({ apiKey: process.env.GATEWAY_KEY, httpOptions: { baseUrl: '${url}' } });
const reply = await client.models.generateContent({ model: ${named}, contents: ${text} });`,
    },
    {
      name: 'AI SDK',
      text: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

const gateway = createOpenAICompatible({ name: 'gateway', baseURL: '${url}/v1', apiKey: process.env.GATEWAY_KEY${header === '' ? '' : `, headers: {${header.slice(1)} }`} });
const { textStream } = streamText({ model: gateway(${named}), prompt: ${text} });`,
    },
  ];
}
