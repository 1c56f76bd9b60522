import { query } from '@anthropic-ai/claude-agent-sdk';
import { image, main, prompt } from './common.js';

// <docs>
const env = {
  ...process.env,
  ANTHROPIC_BASE_URL: process.env.GATEHOUSE_URL,
  ANTHROPIC_AUTH_TOKEN: process.env.GATEHOUSE_API_KEY,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: process.env.MODEL,
};
const options = { model: process.env.MODEL, env, allowedTools: ['Bash', 'Write', 'Read', 'Edit'] };
// </docs>

async function* withImage() {
  const source = { type: 'base64', media_type: 'image/png', data: image };
  const content = [
    { type: 'text', text: prompt },
    { type: 'image', source },
  ];
  yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
}

const given = process.env.RESUME ? { ...options, continue: true } : options;

await main(async () => {
  for await (const message of query({ prompt: image ? withImage() : prompt, options: given })) {
    if (message.type !== 'result') continue;
    if (message.is_error || message.subtype !== 'success')
      throw new Error(message.result ?? message.errors?.join('; '));
    return message.result;
  }
  throw new Error('no result');
});
