import { GatewayError, type Operation, type ResolvedTarget, type Target } from '../plugin/index.ts';

/**
 * Enforces a config that restricts `/v1/messages` to the Claude family, whose native API it is. The family is every
 * model with this API, whatever its name. Throws GatewayError.
 */
export function checkMessagesRoute(
  operation: Operation,
  { messagesRoute }: Pick<Target, 'messagesRoute'>,
  { slug, model, format }: Pick<ResolvedTarget, 'slug' | 'model' | 'format'>,
): void {
  if (operation.id !== 'messages' || messagesRoute === 'any' || format === operation.format.name) return;
  throw new GatewayError(
    'unsupported_task',
    `${operation.path} serves only the Claude family here (messages_route: claude), and ${model} of @${slug} does not belong to it. Use /v1/chat/completions.`,
    { param: 'model' },
  );
}
