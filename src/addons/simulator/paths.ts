export const CHAT_PATH = '/v1/chat/completions';
export const EMBEDDINGS_PATH = '/v1/embeddings';
