export const Playground = () => <p>Playground</p>;
