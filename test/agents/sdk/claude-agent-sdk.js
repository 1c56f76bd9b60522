import { query } from '@anthropic-ai/claude-agent-sdk';
import { main, prompt } from './common.js';

// <docs>
const env = {
  ...process.env,
  ANTHROPIC_BASE_URL: process.env.GATEHOUSE_URL,
  ANTHROPIC_AUTH_TOKEN: process.env.GATEHOUSE_API_KEY,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: process.env.MODEL,
};
const options = { model: process.env.MODEL, env, allowedTools: ['Bash', 'Write', 'Read', 'Edit'] };
// </docs>

await main(async () => {
  for await (const message of query({ prompt, options })) {
    if (message.type !== 'result') continue;
    if (message.is_error || message.subtype !== 'success')
      throw new Error(message.result ?? message.errors?.join('; '));
    return message.result;
  }
  throw new Error('no result');
});
