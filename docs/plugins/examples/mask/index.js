import { definePlugin, replacing } from 'gatehouse-gateway/plugin';

const FOUND = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|\+\d(?:[ -]?\d){7,14}/g;
const mask = (found) => (found.includes('@') ? '[EMAIL]' : '[PHONE]');
const request = (view) => view.texts().forEach((one) => one.replace(one.text.replaceAll(FOUND, mask)));
const reply = () => replacing(FOUND, mask, { longest: 384 });
export default definePlugin({
  name: 'mask',
  level: 'request',
  pure: true,
  reads: { request: 'texts', reply: 'texts', kinds: ['text', 'refusal', 'tool_arguments'] },
  create: () => ({ request, reply }),
});
