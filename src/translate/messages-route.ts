import { GatewayError, type Operation, type ResolvedTarget, type Target } from '../plugin/index.ts';

/**
 * service.md, section 4.2: `/v1/messages` works with the Claude family only, where a config says so. The family is what speaks
 * its API, whatever its models are called. Throws GatewayError.
 */
export function checkMessagesRoute(
  operation: Operation,
  { messagesRoute }: Pick<Target, 'messagesRoute'>,
  { slug, model, format }: Pick<ResolvedTarget, 'slug' | 'model' | 'format'>,
): void {
  if (operation.id !== 'messages' || messagesRoute === 'any' || format === operation.format.name) return;
  throw new GatewayError(
    'unsupported_task',
    `${operation.path} serves the Claude family only here (messages_route: claude), and ${model} of @${slug} is not of it: use /v1/chat/completions.`,
    { param: 'model' },
  );
}
