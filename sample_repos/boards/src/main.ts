import { createApp } from "./app.js";
import { loadConfig } from "./config.js";
import { createHttpServer } from "./http/server.js";

const config = loadConfig(process.argv[2] ?? "boards.config.json");
const app = createApp(config);

createHttpServer(app).listen(config.port, () => console.log(`boards listens on port ${config.port}`));
