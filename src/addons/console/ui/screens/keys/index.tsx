export const Keys = () => <p>Keys</p>;
