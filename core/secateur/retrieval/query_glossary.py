"""Translates the words that programmers ask with from Chinese: a glossary of our own, and CC-CEDICT for the rest.

A dictionary for everyone gives "suspend" for what code calls "pause", and eight words for every particle. Here
particles and question words say nothing, a word of the glossary counts in full, and of the dictionary's definitions the
first count more.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import lru_cache

from secateur.index.facts.lexical import STOP_WORDS
from secateur.retrieval.query_translation import dictionary_words, han_runs, longest_words

GLOSSED = 1.0
"""Weight of a word of the glossary: it is what code says."""

COMMON, RARE = 0.5, 0.2
"""Weights of the dictionary's first FIRST words, and of the others: right in kind, uncertain in choice."""

FIRST = 3

_PARTICLE_TEXT = """
的 了 是 在 和 与 或 把 被 让 给 对 从 到 为 以 及 等 于 之 其 这 那 此 该 个 一个 一 一些 某 每 每个 各 有 没有 不
没 也 都 就 才 还 又 再 很 更 最 吗 呢 吧 啊 么 着 过 得 地 所 中 里 上 下 内 外 前 后 时 时候 当 如果 要 会 能 可以
应该 需要 正在 已经 如何 怎么 怎样 怎麽 什么 哪里 哪儿 哪个 哪些 哪 为什么 为何 是否 多少 几 谁 何时 何处 我 我们 你
它 它们 他 用 像 不像 以及 之前 之后 关于 实现 进行 代码 功能 逻辑 地方 部分 具体
"""
_PARTICLES = frozenset(_PARTICLE_TEXT.split())

_GLOSSARY = """
安装 install|按钮 button|绑定 bind|版本 version|保存 save store|报错 error|备份 backup|比较 compare
编码 encode encoding|编译 compile|编辑 edit|变量 variable|标签 tag label|标记 mark token|表达式 expression
表格 table|并发 concurrent concurrency|并行 parallel|补全 complete completion|捕获 capture catch
参数 parameter argument|测试 test|插件 plugin|插入 insert|查询 query|查找 find search lookup|拆分 split|超时 timeout
撤销 undo revoke|成功 success|程序 program|尺寸 size|重命名 rename|重复 duplicate repeat|重连 reconnect|重试 retry
重启 restart|重置 reset|重载 reload overload|抽象 abstract|初始化 init initialize|触发 trigger|传输 transfer
窗口 window|创建 create new|磁盘 disk|存储 store storage|错误 error|打包 pack bundle|打开 open|打印 print|大小 size
代理 proxy agent|导出 export|导入 import|登录 login|调度 schedule dispatch|调试 debug|调用 call invoke|订单 order
订阅 subscribe|定义 define definition|定时 timer schedule|读取 read|端口 port|断开 disconnect|断言 assert|队列 queue
对齐 align|对象 object|堆栈 stack|多线程 thread|发布 publish release|发送 send|返回 return|方法 method
访问 access visit|服务器 server|服务 service|复制 copy|格式化 format|格式 format|更新 update|工具 tool util
工作 work job|构建 build|构造 construct|关闭 close|关键字 keyword|管道 pipe pipeline|光标 cursor|归档 archive
滚动 scroll|过滤 filter|过期 expire|函数 function|合并 merge|宏 macro|回调 callback|回滚 rollback
恢复 restore resume recover|会话 session|缓冲 buffer|缓存 cache|环境 environment env|换行 newline line
获取 get fetch|寄存器 register|计算 compute calculate|计数 count|记录 record log|继承 inherit|加密 encrypt|加载 load
加锁 lock|价格 price|监听 listen watch|监控 monitor|检测 detect|检查 check|剪贴板 clipboard|键盘 keyboard|键 key
节点 node|结构体 struct|结构 struct structure|接口 interface api|接收 receive|解析 parse|解密 decrypt|解码 decode
界面 ui screen|进程 process|进度 progress|禁用 disable|静态 static|镜像 image mirror|校验 validate verify checksum
脚本 script|可见 visible|客户端 client|空格 space whitespace|库存 stock inventory|块 block chunk|快照 snapshot
扩展 extend extension|类型 type|类 class|历史 history|连接 connect connection|列表 list|列 column|链接 link
令牌 token|流 stream|路径 path|路由 route router|轮询 poll|码点 codepoint rune|枚举 enum|密码 password|命令 command
命名空间 namespace|模板 template|模块 module|模型 model|模式 mode pattern schema|目录 directory folder|内存 memory
拷贝 copy|排序 sort order|配置 config configuration|匹配 match|拼接 join concat|屏幕 screen|启动 start launch
启用 enable|签名 sign signature|迁移 migrate migration|前缀 prefix|嵌套 nested|请求 request|取消 cancel
权限 permission|权重 weight|任务 task job|日期 date|日志 log|容器 container|入口 entry main|删除 delete remove
上传 upload|上下文 context|深度 depth|声明 declare declaration|生成 generate|失败 fail failure|时间戳 timestamp
时间 time|实例 instance|事件 event|事务 transaction|适配 adapter|释放 release free|收集 collect
首选项 preference setting|书签 bookmark|输出 output|输入 input|鼠标 mouse|属性 attribute property|数据库 database db
数据 data|数组 array|刷新 refresh flush|树 tree|搜索 search|索引 index|锁 lock|跳表 skiplist skip list|跳过 skip
跳转 jump goto|提交 commit submit|替换 replace|填充 fill pad padding|条件 condition|停止 stop
通知 notify notification|同步 sync|统计 count statistics|图 graph|图片 image|退出 exit quit|网络 network|网址 url
网页 page web|位置 position location|文档 document doc|文件夹 folder directory|文件名 filename|文件 file|文本 text
无效 invalid|下载 download|线程 thread|限制 limit|响应 response|项目 project item|消息 message|小数 decimal
协程 coroutine|协议 protocol|卸载 uninstall unload|写入 write|写 write|心跳 heartbeat|信号 signal|行号 line number
行 line row|修改 modify change|选项 option|选择 select pick choose|压缩 compress compact|颜色 color
延迟 delay latency|验证 validate verify|依赖 dependency depend|异步 async|异常 exception|引用 reference
应用 app apply application|映射 map mapping|用户 user|优先级 priority|语法 syntax|语句 statement|预览 preview
域名 domain host|元数据 metadata|远程 remote|允许 allow|运行 run|暂停 pause|折叠 fold collapse|折扣 discount
支付 pay payment|执行 execute run|指针 pointer|指令 instruction directive|值 value|终端 terminal tty
终止 terminate abort|中断 interrupt|中间件 middleware|主题 theme|主机 host|注册 register|注入 inject|注释 comment
转换 convert transform|转义 escape|状态 status state|追加 append|子进程 subprocess child|字典 dictionary dict
字段 field|字符串 string|字符 character char|字节 byte|自动 auto|组件 component|阻塞 block|最大 max maximum
最小 min minimum|作用域 scope|哈希 hash|完整 integrity complete|存在 exist|改变 change resize|处理 handle process
开始 begin start|判断 check is|识别 detect recognize|限流 throttle limit|夹具 fixture|负载 load payload
层 level layer|层级 level|随机 random|高亮 highlight|显示 show display|隐藏 hide|去重 dedup unique
清理 clean cleanup|清空 clear|遍历 iterate walk|递归 recursive|序列化 serialize|反序列化 deserialize
垃圾回收 gc garbage|单元测试 test|正则 regex|死锁 deadlock|总数 total count|总价 total|退款 refund|登出 logout
认证 authenticate auth|授权 authorize auth|加入 join add|添加 add|移除 remove|设置 set setting
"""


@lru_cache(maxsize=1)
def glossary() -> Mapping[str, tuple[str, ...]]:
    """English words of code by Chinese word, the most usual first."""
    rows = (row.split() for line in _GLOSSARY.splitlines() for row in line.split("|"))
    return {row[0]: tuple(row[1:]) for row in rows if row}


def weighted_translation(query: str) -> tuple[tuple[str, float], ...]:
    """The English words for the Chinese words of a query, in order, each once, with weights. With the glossary alone
    where the extra `[zh]` is not installed."""
    known, more = glossary(), dictionary_words()
    found: dict[str, float] = {}
    for run in han_runs(query):
        for word in _cut(run, (_PARTICLES, known, more)):
            if word in _PARTICLES:
                continue
            if word in known:
                told = [(english, GLOSSED) for english in known[word]]
            else:
                words = [one for one in more.get(word, ()) if one not in STOP_WORDS]
                told = [(one, COMMON if rank < FIRST else RARE) for rank, one in enumerate(words)]
            for english, weight in told:
                found[english] = max(weight, found.get(english, 0.0))
    return tuple(found.items())


def _cut(run: str, known: Sequence[Container[str]]) -> list[str]:
    """The words of a run, cut from its end or from its beginning: whichever leaves fewer words, and of these fewer
    single characters ("保存 在 哪里", not "保 存在 哪里")."""
    backward, forward = longest_words(run, known), longest_words(run, known, forward=True)

    def cost(words: list[str]) -> tuple[int, int]:
        return len(words), sum(len(word) == 1 and word not in _PARTICLES for word in words)

    return min(backward, forward, key=cost)
