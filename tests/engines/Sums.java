import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/**
 * A job of Flink's own, which takes ten seconds: counts a million numbers by their remainder.
 *
 * <p>java -cp '.engines/flink-VERSION/lib/*' Sums.java REST_PORT OUTPUT_FOLDER
 */
public class Sums {
  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    configuration.setString("execution.target", "remote");
    configuration.setString("rest.address", "localhost");
    configuration.setString("rest.port", arguments[0]);
    configuration.setString("parallelism.default", "2");
    TableEnvironment tables =
        TableEnvironment.create(
            EnvironmentSettings.newInstance()
                .inBatchMode()
                .withConfiguration(configuration)
                .build());
    tables.executeSql(
        "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen',"
            + " 'number-of-rows' = '1000000', 'rows-per-second' = '100000',"
            + " 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '1000000')");
    tables.executeSql(
        "CREATE TABLE sums (k BIGINT, s BIGINT, c BIGINT) WITH ('connector' = 'filesystem',"
            + " 'format' = 'csv', 'path' = 'file://" + arguments[1] + "')");
    tables
        .executeSql(
            "INSERT INTO sums"
                + " SELECT MOD(n, 4), SUM(n), COUNT(*) FROM numbers GROUP BY MOD(n, 4)")
        .await();
  }
}
